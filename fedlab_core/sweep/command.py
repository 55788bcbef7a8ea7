"""The command ``sweep``: run a grid in parallel, and resume it after an interruption."""

import argparse
import time
from collections import Counter
from pathlib import Path

from tqdm.auto import tqdm

from fedlab_core.progress import watched
from fedlab_core.sweep import crew, plan
from fedlab_core.sweep.folder import RESULTS, Folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sweep`` to ``parser``; ``run`` is a function from parsed arguments to
    the exit status.
    """
    add = parser.add_argument
    add(
        "action",
        nargs="?",
        choices=("run", "status"),
        default="run",
        help="what to do (default: run)",
    )
    add("config", type=Path, metavar="CONFIG.toml", help="the grid; docs/sweeps.md explains it")
    add(
        "--out",
        type=Path,
        default=Path("build/sweeps"),
        metavar="FOLDER",
        help="default: build/sweeps",
    )
    where = "a running Dask scheduler, tcp://host:8786 (default: processes on this machine)"
    add("--scheduler", metavar="ADDRESS", help=where)
    add(
        "--workers", type=int, metavar="N", help="processes on this machine (default: one per core)"
    )
    add("--dry-run", action="store_true", help="list the runs as status does, without a run")
    parser.set_defaults(run=_run, when_interrupted=". The same command resumes the sweep.")


def _run(options: argparse.Namespace) -> int:
    if options.workers is not None and (options.workers < 1 or options.scheduler):
        raise ValueError(
            f"--workers {options.workers}: must be at least 1, and not given with --scheduler"
        )
    folder = Folder(options.out, plan.read(options.config))
    if options.dry_run or options.action == "status":
        return _status(folder)
    return compute(folder, folder.plan.runs, options.scheduler, options.workers)


def compute(
    folder: Folder, runs: list[plan.Run], scheduler: str | None = None, workers: int | None = None
) -> int:
    """Do those of the ``runs`` of a sweep that are missing, write its tables, and return the exit
    status.
    """
    started = time.perf_counter()
    with folder.claimed():
        missing = [run for run in runs if folder.status(run) not in RESULTS]
        print(f"{len(runs)} runs, of which {len(runs) - len(missing)} are done", flush=True)
        try:
            _compute(folder, missing, scheduler, workers)
        finally:
            seconds = folder.write_tables()
    print(f"{_in_words(folder)}: {tqdm.format_interval(seconds)} of computation in all, ", end="")
    print(
        f"{tqdm.format_interval(time.perf_counter() - started)} now\ntable: "
        f"{folder.tables / 'table.csv'}"
    )
    return 1 if "failed" in map(folder.status, runs) else 0


def _compute(
    folder: Folder, missing: list[plan.Run], scheduler: str | None, workers: int | None
) -> None:
    """Do the missing runs, with a bar in a terminal and a line for each run elsewhere."""
    for run in missing:
        folder.prepare(run)
    # one seed shares its data
    runs = sorted(missing, key=lambda run: run.config["seed"])
    count = len(folder.plan.runs)
    outcomes = crew.outcomes(scheduler, workers, runs, folder.runs, folder.plan.modules)
    with tqdm(
        desc=folder.plan.name,
        total=count,
        initial=count - len(runs),
        unit="run",
        disable=not watched(),
    ) as bar:
        for ended, (run, outcome) in enumerate(outcomes, count - len(runs) + 1):
            folder.keep(run, outcome)
            bar.update()
            if bar.disable or outcome.status == "failed":
                how = (
                    f"{outcome.status} in round {outcome.round}, {outcome.seconds:.1f} s. "
                    f"{outcome.message}"
                )
                bar.write(f"[{ended}/{count}] {run.about(folder.plan.axes)}: {how}")


def _status(folder: Folder) -> int:
    for run in folder.plan.runs:
        line = f"{folder.status(run):<9}{run.digest}  {run.about(folder.plan.axes)}"
        message = folder.outcome(run).get("message", "")
        print(f"{line}: {message}" if message else line)
    print(_in_words(folder))
    return 0


def _in_words(folder: Folder) -> str:
    counts = Counter(map(folder.status, folder.plan.runs))
    return ", ".join(f"{count} {status}" for status, count in counts.items())
