"""The command ``sweep``: a grid of runs, done in parallel, resumed at will."""

import argparse
import time
from collections import Counter
from pathlib import Path

from fedlab_core.sweep import crew, estimate, grid, runs, tables
from fedlab_core.sweep.folder import Folder
from fedlab_core.sweep.meter import Meter, in_time


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sweep`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    add = parser.add_argument
    add("action", nargs="?", choices=("run", "status"), default="run", help="what to do (default: run)")
    add("config", type=Path, metavar="CONFIG.toml", help="the grid; docs/sweeps.md explains it")
    add("--out", type=Path, default=Path("build/sweeps"), metavar="FOLDER", help="default: build/sweeps")
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="a running Dask scheduler, such as tcp://host:8786 (default: this machine)",
    )
    add("--workers", type=int, metavar="N", help="processes on this machine (default: one per core)")
    add("--dry-run", action="store_true", help="list the runs and how long they may take, and do none")
    parser.set_defaults(run=_run, when_interrupted=". The same command goes on from what is done.")


def _run(options: argparse.Namespace) -> int:
    if options.workers is not None and (options.workers < 1 or options.scheduler):
        raise ValueError(f"--workers {options.workers}: must be at least 1, and not given with --scheduler")
    asked = grid.read(options.config)
    if options.dry_run:
        return _dry_run(asked, options)
    wanted = runs.expand(asked)
    folder = Folder(options.out, asked.name)
    return _status(folder, wanted) if options.action == "status" else _sweep(folder, wanted, asked, options)


def _sweep(folder: Folder, wanted: list[runs.Run], asked: grid.Grid, options: argparse.Namespace) -> int:
    with folder.claimed():
        missing, started = folder.missing(wanted), time.perf_counter()
        print(f"{len(wanted)} runs, of which {len(wanted) - len(missing)} are done", flush=True)
        try:
            if missing:
                _compute(folder, wanted, missing, asked.modules, options)
        finally:
            seconds = tables.write(folder, wanted, asked.target)
        counts = Counter(folder.outcome(run)["status"] for run in wanted)
        print(", ".join(f"{count} {status}" for status, count in counts.items()), end=": ")
        print(f"{in_time(seconds)} of computation in all, {in_time(time.perf_counter() - started)} now")
        print(f"table: {folder.tables / 'table.csv'}")
    return 1 if counts["failed"] else 0


def _compute(
    folder: Folder, wanted: list[runs.Run], missing: list[runs.Run], modules: list[str], options: argparse.Namespace
) -> None:
    axes = tables.varied(wanted)
    with crew.assembled(options.scheduler, options.workers) as cluster, Meter(folder, wanted, missing) as meter:
        for run, outcome in crew.outcomes(cluster, missing, folder, meter.heard, modules):
            folder.keep(run, outcome)
            meter.ended(run, outcome, {name: run.axes[name] for name in axes if name in run.axes})


def _status(folder: Folder, wanted: list[runs.Run]) -> int:
    axes, running, counts = tables.varied(wanted), folder.running(), Counter[str]()
    for run in wanted:
        outcome = folder.outcome(run)
        status = "running" if run.digest in running else outcome.get("status", "waiting")
        counts[status] += 1
        where = {"running": f" (round {running.get(run.digest)} of {run.config['rounds']})"}.get(status, "")
        said = f": {outcome['message']}" if outcome.get("message") and status != "running" else ""
        about = runs.in_words({name: run.axes[name] for name in axes if name in run.axes})
        print(f"{status:<9}{run.digest}  {about}{where}{said}")
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 0


def _dry_run(asked: grid.Grid, options: argparse.Namespace) -> int:
    folder = Folder(options.out, asked.name)
    found = estimate.estimate(asked, folder)
    axes = tables.varied([run for run, _ in found])
    for run, seconds in found:
        about = runs.in_words({name: run.axes[name] for name in axes if name in run.axes})
        print(f"{run.digest}  {about}: {'done' if seconds is None else f'about {seconds:.1f} s'}")
    left = [seconds for _, seconds in found if seconds is not None]
    total, cores = sum(left), options.workers or estimate.cores()
    print(f"{len(found)} runs, of which {len(found) - len(left)} are done; the others need about {in_time(total)} of")
    print(f"computation, measured here: about {in_time(total / cores)} with {cores} workers like this machine's cores")
    return 0
