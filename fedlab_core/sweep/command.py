"""The command ``sweep``: run a grid in parallel, and resume it after an interruption."""

import argparse
import time
from collections import Counter
from pathlib import Path

from tqdm.auto import tqdm

from fedlab_core.engines import cores
from fedlab_core.progress import watched
from fedlab_core.sweep import cluster, crew, plan
from fedlab_core.sweep.folder import Folder

_PAUSE = 1.0  # seconds between two notes of the running runs
_in_time = tqdm.format_interval


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sweep`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    add = parser.add_argument
    add("action", nargs="?", choices=("run", "status"), default="run", help="what to do (default: run)")
    add("config", type=Path, metavar="CONFIG.toml", help="the grid; docs/sweeps.md explains it")
    add("--out", type=Path, default=Path("build/sweeps"), metavar="FOLDER", help="default: build/sweeps")
    where = "a running Dask scheduler, tcp://host:8786 (default: processes on this machine)"
    add("--scheduler", metavar="ADDRESS", help=where)
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
    """Do the missing runs, with a bar in a terminal and a line for each run elsewhere."""
    running, noted = dict[str, int](), [0.0]

    def heard(digest: str, round: int) -> None:  # in another thread
        running[digest] = round
        if time.monotonic() >= noted[0] + _PAUSE:
            folder.note_running(dict(running))
            noted[0] = time.monotonic()

    path, modules, count = str(folder.path), folder.plan.modules, len(folder.plan.runs)
    for run in missing:
        folder.prepare(run)
    runs = sorted(missing, key=lambda run: run.config["seed"])  # runs of one seed share their data
    if options.scheduler is None:
        outcomes = crew.outcomes(options.workers, runs, heard, path, modules)
    else:
        outcomes = cluster.outcomes(options.scheduler, runs, heard, path, folder.word(), modules)
    with tqdm(desc=folder.plan.name, total=count, initial=count - len(runs), unit="run", disable=not watched()) as bar:
        for ended, (run, outcome) in enumerate(outcomes, count - len(runs) + 1):
            folder.keep(run, outcome)
            running.pop(run.digest, None)
            bar.update()
            if bar.disable or outcome.status == "failed":
                how = f"{outcome.status} in round {outcome.round}, {outcome.seconds:.1f} s. {outcome.message}"
                bar.write(f"[{ended}/{count}] {run.about(folder.plan.axes)}: {how}")


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
    print(f"{_in_time(total)} of computation, {_in_time(total / workers)} with {workers} workers")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in counts.items())
