"""Compare the seconds of one round of FedAvg with those of other simulators.

    python -m benchmarks.peers
    python -m benchmarks.peers --only-environments
    python -m benchmarks.peers --tasks digits-mlp --peers fluke --repeats 2

The first command makes the environments that are missing, runs every peer in every task, and writes
results/peers.csv and the table in docs/speed.md. A choice of tasks or peers writes
build/peers/some.csv instead. An interrupted comparison goes on where it stopped. The environments
are in build/peers/environments, or in $FEDLAB_PEERS. MNIST and CIFAR-10 are read from $FEDLAB_DATA.
"""

import argparse
import datetime
import os
import sys
from pathlib import Path

from benchmarks.peers import environments, page, runs, table, tasks
from benchmarks.peers.adapters.protocol import Report
from benchmarks.peers.contestants import CONTESTANTS, OURS, Contestant
from benchmarks.peers.tasks import TASKS, Task
from fedlab_core.engines import cores

BUILD = runs.ROOT / "build" / "peers"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    folder = os.environ.get("FEDLAB_PEERS", BUILD / "environments")
    add("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS), metavar="TASK")
    add("--peers", nargs="+", choices=list(CONTESTANTS), default=list(CONTESTANTS), metavar="PEER")
    add("--repeats", type=int, default=5, help="runs of each peer in each task (default: 5)")
    add("--rounds", type=int, help="counted rounds of a run, for a quick look")
    add("--environments", type=Path, default=Path(folder), metavar="FOLDER")
    add("--only-environments", action="store_true", help="make the environments and stop")
    add("--fresh", action="store_true", help="forget the runs of an interrupted comparison")
    add("--out", type=Path, help="another file for the table")
    found = parser.parse_args(given)
    if found.repeats < 1:
        parser.error(f"--repeats {found.repeats}: must be at least 1")
    if found.rounds is not None and not 1 <= found.rounds < tasks.MOST_ROUNDS:
        parser.error(f"--rounds {found.rounds}: must be from 1 to {tasks.MOST_ROUNDS - 1}")
    if OURS not in found.peers:
        found.peers = [OURS, *found.peers]
    if found.out is None:
        found.out = page.TABLE if is_whole(found) else BUILD / "some.csv"
    return found


def is_whole(given: argparse.Namespace) -> bool:
    """Whether all peers are measured in all tasks, in their full length."""
    everything = set(given.tasks) == set(TASKS) and set(given.peers) == set(CONTESTANTS)
    return everything and given.rounds is None


def interpreters(contestants: list[Contestant], root: Path) -> dict[str, Path | str]:
    """The interpreter of each environment, or the reason why there is none."""
    found: dict[str, Path | str] = {}
    for name in sorted({contestant.requirements or "" for contestant in contestants} - {""}):
        try:
            found[name] = environments.make(name, root)
        except environments.EnvironmentFailed as error:
            found[name] = str(error)
            print(f"{name}: {error}", file=sys.stderr)
    return found


def measured_by(pythons: dict[str, Path | str]) -> runs.Measure:
    """The function that runs a peer in its environment."""

    def measure(task: Task, contestant: Contestant) -> Report:
        python: Path | str = Path(sys.executable)
        if contestant.requirements:
            python = pythons[contestant.requirements]
        if isinstance(python, str):
            raise runs.RunFailed(python)
        file = tasks.file_of(task, BUILD / "tasks")
        return runs.run_adapter(python, contestant, file, task.rounds)

    return measure


def main() -> int:
    given = arguments()
    contestants = [CONTESTANTS[name] for name in given.peers]
    pythons = interpreters(contestants, given.environments)
    if given.only_environments:
        return int(any(isinstance(python, str) for python in pythons.values()))
    chosen = [TASKS[name] for name in given.tasks]
    if given.rounds is not None:
        chosen = [task.with_rounds(given.rounds) for task in chosen]
    log = BUILD / f"{given.out.stem}.jsonl"
    if given.fresh:
        log.unlink(missing_ok=True)
    order = runs.plan(chosen, contestants, given.repeats)
    outcomes = runs.run_all(order, measured_by(pythons), log, datetime.date.today())
    machine = table.machine_in_words(cores.usable())
    command = f"python -m benchmarks.peers --repeats {given.repeats}"
    rows = table.rows(chosen, contestants, outcomes.values(), machine, command)
    table.write(given.out, rows)
    if given.out == page.TABLE:
        page.main()
    print(table.as_text(rows))
    print(f"written to {given.out}")
    failed = any(row.failure for row in rows)
    if not failed:
        log.unlink()  # a finished comparison is over: the next one measures everything again
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
