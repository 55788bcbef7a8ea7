"""The rows of the table: medians, ratios to this library, and whether a peer did the same work."""

import csv
import platform
import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks.peers.contestants import OURS, Contestant
from benchmarks.peers.runs import Outcome
from benchmarks.peers.tasks import Task


@dataclass(frozen=True)
class Row:
    """One peer in one task.

    ``seconds``: the median over all counted rounds of all repetitions; ``ratio``: how many times as
    long as this library, the median over the repetitions of the ratio of their medians; ``check``:
    "same work", or what differs; ``failure``: why there is no figure.
    """

    task: str
    peer: str
    processes: int
    threads: str
    seconds: str = ""
    seconds_min: str = ""
    seconds_max: str = ""
    ratio: str = ""
    accuracy: str = ""
    samples_per_round: str = ""
    check: str = ""
    failure: str = ""
    repetitions: int = 0
    rounds: int = 0
    note: str = ""
    versions: str = ""
    date: str = ""
    machine: str = ""
    command: str = ""


def rows(
    tasks: Iterable[Task],
    contestants: Iterable[Contestant],
    outcomes: Iterable[Outcome],
    machine: str,
    command: str,
) -> list[Row]:
    """A row for every contestant in every task, with a figure
    or with the reason why there is none.
    """
    by_run = {
        (outcome.key.task, outcome.key.contestant, outcome.key.repetition): outcome
        for outcome in outcomes
    }
    contestants = list(contestants)
    table = []
    for task in tasks:
        runs = {}
        for contestant in contestants:
            mine = [
                item
                for (name, peer, _), item in by_run.items()
                if (name, peer) == (task.name, contestant.name)
            ]
            runs[contestant.name] = sorted(mine, key=lambda outcome: outcome.key.repetition)
        table += [row(task, contestant, runs, machine, command) for contestant in contestants]
    return table


def row(
    task: Task, contestant: Contestant, runs: dict[str, list[Outcome]], machine: str, command: str
) -> Row:
    """The row of one contestant; ``runs`` has those of all contestants in this task."""
    mine = runs[contestant.name]
    threads = "all cores" if contestant.threads is None else str(contestant.threads)
    common = {
        "task": task.name,
        "peer": contestant.name,
        "processes": contestant.processes,
        "threads": threads,
        "note": contestant.note,
        "machine": machine,
        "command": command,
        "date": mine[-1].date if mine else "",
    }
    done = [outcome for outcome in mine if outcome.report is not None]
    failures = [outcome.failure for outcome in mine if outcome.report is None]
    if not done:
        return Row(**common, failure=failures[-1] if failures else "not run")
    reports = [outcome.report for outcome in done if outcome.report is not None]
    seconds = [value for report in reports for value in report.seconds]
    samples = statistics.median(report.samples / (len(report.seconds) + 1) for report in reports)
    accuracy = statistics.median(report.accuracy for report in reports)
    return Row(
        **common,
        seconds=f"{statistics.median(seconds):.4g}",
        seconds_min=f"{min(seconds):.4g}",
        seconds_max=f"{max(seconds):.4g}",
        ratio=ratio(done, runs.get(OURS, [])),
        accuracy=f"{accuracy:.3f}",
        samples_per_round=f"{samples:.0f}",
        check=check(task, samples, accuracy, accuracy_of(runs.get(OURS, []))),
        failure=failures[-1] if failures else "",
        repetitions=len(done),
        rounds=len(reports[0].seconds),
        versions=" ".join(f"{name} {version}" for name, version in reports[-1].versions.items()),
    )


def ratio(mine: list[Outcome], ours: list[Outcome]) -> str:
    """How many times as long as this library takes: the median
    over the repetitions that both have.
    """
    reference = {
        outcome.key.repetition: outcome.report for outcome in ours if outcome.report is not None
    }
    ratios = []
    for outcome in mine:
        other = reference.get(outcome.key.repetition)
        if outcome.report is not None and other is not None:
            ratios.append(
                statistics.median(outcome.report.seconds) / statistics.median(other.seconds)
            )
    return f"{statistics.median(ratios):.3g}" if ratios else ""


def accuracy_of(ours: list[Outcome]) -> float | None:
    """The median accuracy of this library."""
    found = [outcome.report.accuracy for outcome in ours if outcome.report is not None]
    return statistics.median(found) if found else None


def check(task: Task, samples: float, accuracy: float, ours: float | None) -> str:
    """Compare the number of samples with the task's, and the accuracy with ours."""
    faults = []
    if samples != task.samples_per_round:
        faults.append(f"{samples:.0f} samples a round, not {task.samples_per_round}")
    if ours is None:
        faults.append("accuracy not compared")
    elif abs(accuracy - ours) > task.tolerance:
        faults.append(f"accuracy {accuracy:.3f}, ours {ours:.3f}")
    return "; ".join(faults) or "same work"


def write(path: Path, table: list[Row]) -> None:
    """Write the table, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(row) for row in table)
    unfinished.replace(path)


def as_text(table: list[Row]) -> str:
    """The table for a terminal."""
    lines = [("task", "peer", "s a round", "times ours", "accuracy", "check")]
    for found in table:
        why = found.failure or found.check
        lines.append((found.task, found.peer, found.seconds, found.ratio, found.accuracy, why))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def machine_in_words(cores: int) -> str:
    """The processor, the number of cores and the system. No name of the machine."""
    processor = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        match = re.search(r"^model name\s*:\s*(.+)$", facts.read_text(), re.MULTILINE)
        processor = match[1].strip() if match else processor
    return f"{processor}, {cores} cores, {platform.system()}"
