"""What a sweep has found, as CSV files: one row per run, all curves in one, and the times apart from both."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fedlab_core import atomic
from fedlab_core.history import History
from fedlab_core.sweep.folder import RESULTS, Folder
from fedlab_core.sweep.runs import Run


def varied(runs: Sequence[Run]) -> list[str]:
    """The axes on which runs differ, the algorithm in any case; the seed comes last."""
    names = dict.fromkeys(name for run in runs for name in run.axes if name != "seed")
    return [name for name in names if name == "algorithm" or _differ(runs, name)] + ["seed"]


def _differ(runs: Sequence[Run], name: str) -> bool:
    return len({repr(run.axes.get(name)) for run in runs}) > 1


def write(folder: Folder, runs: Sequence[Run], target: float | None) -> float:
    """Write table.csv, curves.csv and timings.csv of the sweep, and return the seconds of computation in all its runs.

    In the order of the grid, whoever computed what and when: all but timings.csv are the same bytes for the same runs.
    """
    axes, rows, curves, timings = varied(runs), [], [], []
    for run in runs:
        outcome = folder.outcome(run)
        if outcome.get("status") not in RESULTS:
            continue
        history = folder.history(run)
        about = {"run": run.digest} | {name: run.axes.get(name) for name in axes}
        diverged = outcome["round"] if outcome["status"] == "diverged" else None
        rows.append(about | _summary(history, diverged, target))
        curves += [about | _measured(row) for row in history.rows()]
        timings.append({"run": run.digest} | {name: outcome[name] for name in ("seconds", "wall", "resumed", "worker")})
    _csv(folder, "table", pd.DataFrame(rows, dtype=object))
    _csv(folder, "curves", pd.DataFrame(curves, dtype=object))
    _csv(folder, "timings", pd.DataFrame(timings))
    return sum(row["seconds"] for row in timings)


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    """A record without its seconds, and with another name for the rate of its round: "lr" is what was asked for."""
    return {("round_lr" if name == "lr" else name): value for name, value in row.items() if name != "seconds"}


def _summary(history: History, diverged: int | None, target: float | None) -> dict[str, Any]:
    """The result of one run. A run that diverged has no final accuracy, but a best one and what it had cost."""
    records = history.records
    accuracies = [record.test_accuracy for record in records if not math.isnan(record.test_accuracy)]
    last = records[-1] if records else None
    ended = last if diverged is None else None
    summary = {
        "final_accuracy": ended and ended.test_accuracy,
        "best_accuracy": max(accuracies, default=None),
        "final_test_loss": ended and ended.test_loss,
        "worst_decile": history.clients and history.clients.worst_decile,
        "bytes": last.bytes_up + last.bytes_down if last else 0,
        "server_updates": last.server_updates if last else 0,
        "diverged_round": diverged,
    }
    if target is not None:
        summary["rounds_to_target"] = next((one.round for one in records if one.test_accuracy >= target), None)
    return summary


def _csv(folder: Folder, name: str, frame: pd.DataFrame) -> None:
    with atomic.replacing(folder.tables / f"{name}.csv") as file:
        file.write(frame.to_csv(index=False, lineterminator="\n").encode())
