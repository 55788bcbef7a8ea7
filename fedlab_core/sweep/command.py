"""The command ``sweep``: run a grid in parallel, and resume it after an interruption."""

import argparse
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from fedlab_core.engines import cores
from fedlab_core.progress import watched
from fedlab_core.sweep import cluster, crew, plan
from fedlab_core.sweep.crew import Outcome
from fedlab_core.sweep.folder import Folder

_PAUSE = 1.0  # seconds between two notes of what is running
_in_time = tqdm.format_interval


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sweep`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    add = parser.add_argument
    add("action", nargs="?", choices=("run", "status"), default="run", help="what to do (default: run)")
    add("config", type=Path, metavar="CONFIG.toml", help="the grid; docs/sweeps.md explains it")
    add("--out", type=Path, default=Path("build/sweeps"), metavar="FOLDER", help="default: build/sweeps")
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="a running Dask scheduler, tcp://host:8786 (default: processes on this machine)",
    )
    add("--workers", type=int, metavar="N", help="processes on this machine (default: one per core)")
    add("--dry-run", action="store_true", help="list the runs and estimate their time, without a run")
    parser.set_defaults(run=_run, when_interrupted=". The same command resumes the sweep.")


def _run(options: argparse.Namespace) -> int:
    if options.workers is not None and (options.workers < 1 or options.scheduler):
        raise ValueError(f"--workers {options.workers}: must be at least 1, and not given with --scheduler")
    estimates: dict[str, float] | None = {} if options.dry_run else None
    folder = Folder(options.out, plan.read(options.config, estimates))
    if estimates is not None:
        return _dry_run(folder, estimates, options.workers or cores.usable())
    return _status(folder) if options.action == "status" else _sweep(folder, options)


def _sweep(folder: Folder, options: argparse.Namespace) -> int:
    started, runs = time.perf_counter(), folder.plan.runs
    with folder.claimed():
        missing = folder.missing()
        print(f"{len(runs)} runs, of which {len(runs) - len(missing)} are done", flush=True)
        try:
            if missing:
                _compute(folder, missing, options)
        finally:
            seconds = folder.write_tables()
    counts = Counter(folder.outcome(run)["status"] for run in runs)
    print(f"{_in_words(counts)}: {_in_time(seconds)} of computation in all, ", end="")
    print(f"{_in_time(time.perf_counter() - started)} now\ntable: {folder.tables / 'table.csv'}")
    return 1 if counts["failed"] else 0


def _compute(folder: Folder, missing: list[plan.Run], options: argparse.Namespace) -> None:
    meter, path, modules = _Meter(folder, missing), str(folder.path), folder.plan.modules
    for run in missing:
        folder.prepare(run)
    runs = sorted(missing, key=lambda run: run.config["seed"])  # runs of one seed share their data
    if options.scheduler is None:
        found = crew.outcomes(options.workers, runs, meter.heard, path, modules)
    else:
        found = cluster.outcomes(options.scheduler, runs, meter.heard, path, folder.word(), modules)
    for run, outcome in found:
        folder.keep(run, outcome)
        meter.ended(run, outcome)
    meter.bar.close()


class _Meter:
    """A bar over the rounds of all runs in a terminal; elsewhere a line for each run that has ended."""

    def __init__(self, folder: Folder, missing: list[plan.Run]) -> None:
        self._folder, self._count, self._ended = folder, len(folder.plan.runs), len(folder.plan.runs) - len(missing)
        self._rounds = {run.digest: int(run.config["rounds"]) for run in missing}
        self._running: dict[str, int] = {}
        self._left, self._done, self._begun, self._noted = sum(self._rounds.values()), 0, time.monotonic(), 0.0
        self._lock = threading.Lock()
        total = sum(int(run.config["rounds"]) for run in folder.plan.runs)
        options: dict[str, Any] = {"total": total, "initial": total - self._left, "unit": "round"}
        self.bar = tqdm(desc=folder.plan.name, disable=not watched(), **options)

    def heard(self, digest: str, round: int) -> None:
        """Note the round of a run; other threads call this."""
        with self._lock:
            if digest in self._rounds:
                self._advance(round - self._running.get(digest, 0))
                self._running[digest] = round
                if time.monotonic() >= self._noted + _PAUSE:
                    self._folder.note_running(self._running)
                    self._noted = time.monotonic()

    def ended(self, run: plan.Run, outcome: Outcome) -> None:
        """Note that a run is done, has diverged or has failed."""
        with self._lock:
            self._advance(self._rounds.pop(run.digest) - self._running.pop(run.digest, 0))
        self._ended += 1
        self.bar.set_postfix_str(f"{self._ended} of {self._count} runs")
        remain = _in_time((time.monotonic() - self._begun) * self._left / max(1, self._done))
        if self.bar.disable or outcome.status == "failed":
            how = f"{outcome.status} in round {outcome.round}, {outcome.seconds:.1f} s. {outcome.message}"
            about = run.about(self._folder.plan.axes)
            self.bar.write(f"[{self._ended}/{self._count}, {remain} remain] {about}: {how}")

    def _advance(self, rounds: int) -> None:
        self._done, self._left = self._done + rounds, self._left - rounds
        self.bar.update(rounds)


def _status(folder: Folder) -> int:
    axes, running, counts = folder.plan.axes, folder.running(), Counter[str]()
    for run in folder.plan.runs:
        found = folder.outcome(run)
        status, said = found.get("status", "waiting"), found.get("message", "")
        if run.digest in running:
            status, said = "running", f"round {running[run.digest]} of {run.config['rounds']}"
        counts[status] += 1
        print(f"{status:<9}{run.digest}  {run.about(axes)}{': ' if said else ''}{said}")
    print(_in_words(counts))
    return 0


def _dry_run(folder: Folder, estimates: dict[str, float], workers: int) -> int:
    axes, missing = folder.plan.axes, {run.digest for run in folder.missing()}
    for run in folder.plan.runs:
        what = f"about {estimates[run.digest]:.1f} s" if run.digest in missing else "done"
        print(f"{run.digest}  {run.about(axes)}: {what}")
    total = sum(estimates[digest] for digest in missing)
    print(f"{len(estimates)} runs, of which {len(estimates) - len(missing)} are done; the others need about")
    each = f"{_in_time(total / workers)} with {workers} workers like this machine's cores"
    print(f"{_in_time(total)} of computation, by two rounds of each point of the grid measured here: {each}")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in counts.items())
