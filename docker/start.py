"""Start a command in the container: ``python start.py jupyter lab``.

It gets as many threads as the container has cores, since PyTorch would count those of the whole
machine, and finds the chapters in its home folder. Standard library only.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(command: list[str]) -> None:
    """Become ``command``, with the number of threads set and the chapters copied."""
    if not command:
        sys.exit("usage: python start.py COMMAND [ARGUMENT ...]")
    for name in VARIABLES:
        os.environ.setdefault(name, str(cores(os.environ)))
    if os.environ.get("FEDLAB_CHAPTERS"):
        try:
            lay_out(Path(os.environ["FEDLAB_CHAPTERS"]), Path.home() / "fedlab")
        except OSError as error:  # a full disk, say: its owner needs the server to clear it
            print(f"start: the chapters could not be copied: {error}", file=sys.stderr)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"start: {command[0]} cannot be started: {error.strerror}")


def cores(environment: Mapping[str, str]) -> int:
    """How many whole cores this process may keep busy, at least one.

    What the library counts, or the limit that JupyterHub has put into ``CPU_LIMIT`` if that is
    lower.
    """
    limit = environment.get("CPU_LIMIT")
    return max(1, min(usable(), int(float(limit)))) if limit else usable()


def usable() -> int:
    """``fedlab_core.engines.cores.usable``, without the rest of the library, which would import
    PyTorch.

    In the image its file lies beside this one.
    """
    here = Path(__file__).resolve().parent
    path = next(
        path
        for path in (here / "cores.py", here.parent / "fedlab_core" / "engines" / "cores.py")
        if path.is_file()
    )
    return int(runpy.run_path(str(path))["usable"]())


def lay_out(source: Path, target: Path) -> None:
    """Copy the notebooks of ``source`` that are not in ``target``;
    what is there is a student's work and stays.
    """
    target.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(source.glob("*.ipynb")):
        if not (target / notebook.name).exists():
            # a copy that is cut short must not pass for a student's work
            part = target / (notebook.name + ".part")
            shutil.copyfile(notebook, part)
            part.replace(target / notebook.name)


if __name__ == "__main__":
    main(sys.argv[1:])
