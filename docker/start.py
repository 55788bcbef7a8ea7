"""Start a command in the container: ``python start.py jupyter lab``.

It gets as many threads as the container has cores, since PyTorch would count those of the whole machine, and finds the
chapters in its home folder.
Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(command: list[str]) -> None:
    """Become ``command``, with the number of threads set and the chapters copied."""
    if not command:
        sys.exit("usage: python start.py COMMAND [ARGUMENT ...]")
    try:
        threads = str(cores(os.environ))
    except ValueError as error:
        sys.exit(f"start: {error}")
    for name in VARIABLES:
        os.environ.setdefault(name, threads)
    if os.environ.get("FEDLAB_CHAPTERS"):
        try:
            lay_out(Path(os.environ["FEDLAB_CHAPTERS"]), Path.home() / "fedlab")
        except OSError as error:  # a full disk, say: its owner needs the server to clear it
            print(f"start: the chapters could not be copied: {error}", file=sys.stderr)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"start: {command[0]} cannot be started: {error.strerror}")


def cores(environment: Mapping[str, str], control_groups: Path = CONTROL_GROUPS) -> int:
    """How many whole cores this process may keep busy, at least one.

    The least of those it may run on, the quota of its control group (version 2 or 1), and the limit that JupyterHub has
    put into ``CPU_LIMIT``. Raises ``ValueError`` if that is no number.
    """
    found = [float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)]
    found += quotas(control_groups)
    limit = environment.get("CPU_LIMIT")
    if limit:
        if not re.fullmatch(r"\d+(\.\d+)?", limit):
            raise ValueError(f"CPU_LIMIT={limit!r}: is not a number of cores, such as 1 or 0.5")
        found.append(float(limit))
    return max(1, int(min(found)))


def quotas(control_groups: Path) -> list[float]:
    """The cores that the control group allows: one number, or none if there is no limit.

    Version 2 writes ``quota period`` in µs into one file, with ``max`` for no limit; version 1 uses two files, and −1.
    """
    try:
        quota, period = (control_groups / "cpu.max").read_text().split()
    except OSError:
        try:
            quota = (control_groups / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (control_groups / "cpu" / "cpu.cfs_period_us").read_text()
        except OSError:
            return []
    return [] if quota in ("max", "-1") else [int(quota) / int(period)]


def lay_out(source: Path, target: Path) -> None:
    """Copy the notebooks of ``source`` that are not in ``target``; what is there is a student's work and stays."""
    target.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(source.glob("*.ipynb")):
        if not (target / notebook.name).exists():
            part = target / (notebook.name + ".part")  # a copy that is cut short must not pass for a student's work
            shutil.copyfile(notebook, part)
            part.replace(target / notebook.name)


if __name__ == "__main__":
    main(sys.argv[1:])
