"""The command ``evidence``: the runs behind the verdicts, and the reports on them."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fedlab_core import validation
from fedlab_core.data import DatasetNotFound
from fedlab_course.evidence import judging, plans, tables
from fedlab_course.experiments import collecting, evidence_report, sweeps
from fedlab_course.experiments.all_experiments import EXPERIMENTS
from fedlab_course.experiments.base import Tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``evidence`` to ``parser``; ``run`` is a function from arguments to the
    exit status.
    """
    add = parser.add_argument
    add(
        "action",
        choices=("run", "report"),
        help="compute what is missing and write the reports; write the reports",
    )
    add(
        "--only",
        nargs="+",
        default=[],
        metavar="TABLE",
        help="some of the tables; `run --dry-run` lists them",
    )
    add(
        "--work",
        type=Path,
        default=Path("build"),
        metavar="FOLDER",
        help="where runs are kept (default: build)",
    )
    add(
        "--workers", type=int, metavar="N", help="processes on this machine (default: one per core)"
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="a running Dask scheduler (default: this machine alone)",
    )
    add("--again", action="store_true", help="do the runs of sweeps that their tables have, too")
    add("--dry-run", action="store_true", help="list the runs, and run none")
    parser.set_defaults(run=_run, when_interrupted=". The same command goes on from what is done.")


def _run(options: argparse.Namespace) -> int:
    known = [*sweeps.names(), *EXPERIMENTS]
    chosen = [validation.choice("table", name, known) for name in options.only] or known
    plans.register()
    if options.action == "run" and (failed := _measure(chosen, options)):
        print(
            f"error: {len(failed)} of {len(chosen)} tables are not complete: {', '.join(failed)}",
            file=sys.stderr,
        )
        return 1
    if not options.dry_run:
        print("reports: " + ", ".join(map(str, evidence_report.write())))
    return 0


def _measure(chosen: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Make the tables, one after another, and return those that are not complete."""
    failed = []
    for number, name in enumerate(chosen, start=1):
        print(f"[{number}/{len(chosen)}] {name}, {time.strftime('%H:%M:%S')}", flush=True)
        try:
            done = _sweep(name, options) if name in sweeps.names() else _experiment(name, options)
        except (DatasetNotFound, RuntimeError) as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            done = False
        failed += [] if done else [name]
    judging.forget()
    return failed


def _sweep(name: str, options: argparse.Namespace) -> bool:
    where = (options.work / "sweeps", options.scheduler, options.workers)
    return sweeps.run(name, *where, dry_run=options.dry_run, again=options.again)


def _experiment(name: str, options: argparse.Namespace) -> bool:
    folder = options.work / "evidence"
    for stored in filter(None, (EXPERIMENTS[name].after, name)):
        if EXPERIMENTS[stored].grows:
            collecting.restore(stored, tables.read(stored), folder)
    if options.dry_run:
        print(f"{len(collecting.missing(name, folder))} units are missing")
        return True
    try:
        made = collecting.collect(
            name, folder, scheduler=options.scheduler, workers=options.workers, heard=print
        )
    except BaseException:  # an interruption, too
        if EXPERIMENTS[name].grows:
            _write(collecting.gathered(name, folder))
        raise
    _write(made)
    return True


def _write(made: Tables) -> None:
    for table, frame in made.items():
        tables.write(table, frame)
