"""What a sweep has found, as CSV files: one row per run, all curves in one, and the times apart from both."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fedlab_core import atomic
from fedlab_core.history import History
from fedlab_core.sweep.folder import RESULTS, Folder
from fedlab_core.sweep.runs import Run

_ALWAYS = ("algorithm", "seed")


def varied(runs: Sequence[Run]) -> list[str]:
    """The axes on which runs differ, with the algorithm and the seed in any case."""
    names = dict.fromkeys(name for run in runs for name in run.axes)
    return [name for name in names if name in _ALWAYS or len({repr(run.axes.get(name)) for run in runs}) > 1]


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
        curves.append(history.frame.drop(columns="seconds").assign(**about)[[*about, *_columns(history)]])
        timings.append({"run": run.digest} | {name: outcome[name] for name in ("seconds", "wall", "resumed", "worker")})
    whole = {"diverged_round": "Int64", "rounds_to_target": "Int64"}
    table = pd.DataFrame(rows)
    _csv(folder, "table", table.astype({name: kind for name, kind in whole.items() if name in table}))
    _csv(folder, "curves", pd.concat(curves, ignore_index=True) if curves else pd.DataFrame())
    _csv(folder, "timings", pd.DataFrame(timings))
    return sum(row["seconds"] for row in timings)


def _columns(history: History) -> list[str]:
    return [name for name in history.frame.columns if name != "seconds"]


def _summary(history: History, diverged: int | None, target: float | None) -> dict[str, Any]:
    """The result of one run. A run that diverged has no final accuracy, but a best one and what it had cost."""
    frame = history.frame
    accuracy, cost = frame.test_accuracy, frame.tail(1)
    ended = diverged is None
    summary = {
        "final_accuracy": accuracy.iloc[-1] if ended else None,
        "best_accuracy": accuracy.max(),
        "final_test_loss": frame.test_loss.iloc[-1] if ended else None,
        "worst_decile": history.clients.worst_decile if history.clients is not None else None,
        "bytes": int((cost.bytes_up + cost.bytes_down).sum()),
        "server_updates": int(cost.server_updates.sum()),
        "diverged_round": diverged,
    }
    if target is not None:
        reached = frame["round"][accuracy >= target]
        summary["rounds_to_target"] = int(reached.iloc[0]) if len(reached) else None
    return summary


def _csv(folder: Folder, name: str, frame: pd.DataFrame) -> None:
    with atomic.replacing(folder.tables / f"{name}.csv") as file:
        file.write(frame.to_csv(index=False, lineterminator="\n").encode())
