"""The folder of sweeps: ``runs/DIGEST`` for each run, whoever asks for it, and ``NAME`` for the tables of a sweep."""

import json
import math
import os
import uuid
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core import files
from fedlab_core.data.disk import lock
from fedlab_core.history import History
from fedlab_core.sweep.crew import CHECKPOINT, MARK, Outcome
from fedlab_core.sweep.plan import Plan, Run

RESULTS = ("done", "diverged")


class Folder:
    """``path``, with what is known of the runs of a ``plan``, and the tables of its sweep."""

    def __init__(self, path: str | Path, plan: Plan) -> None:
        self.path, self.plan = Path(path).resolve(), plan
        self.tables = self.path / plan.name
        self._lock, self._running = self.tables / "lock", self.tables / "running.json"

    def of(self, run: Run) -> Path:
        """The folder of a run: config.json, history.npz, outcome.json, log.txt and, until it ends, checkpoint.npz."""
        return self.path / "runs" / run.digest

    def word(self) -> str:
        """The word by which a worker recognises this folder, made when it is first asked for."""
        mark = self.path / MARK
        if not mark.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            _replace(mark, uuid.uuid4().hex)
        return mark.read_text(encoding="utf-8")

    def claimed(self) -> AbstractContextManager[None]:
        """Only one process at a time may write the sweep; others wait."""
        return lock.locked(self._lock, f"the sweep {self.plan.name} in {self.path}")

    def prepare(self, run: Run) -> None:
        """Make the folder of a run, with its configuration."""
        self.of(run).mkdir(parents=True, exist_ok=True)
        (self.of(run) / "config.json").write_text(json.dumps(run.config, indent=1) + "\n", encoding="utf-8")

    def keep(self, run: Run, outcome: Outcome) -> None:
        """Write what became of a run. It counts once its outcome.json is there, which comes last."""
        folder = self.of(run)
        if outcome.history is not None:
            outcome.history.save(folder / "history.npz")
        with (folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(outcome.log)
        facts = {key: value for key, value in vars(outcome).items() if key not in ("history", "log")}
        _replace(folder / "outcome.json", json.dumps(facts, indent=1) + "\n")
        if outcome.status in RESULTS:
            (folder / CHECKPOINT).unlink(missing_ok=True)

    def outcome(self, run: Run) -> dict[str, Any]:
        """What became of a run, but for its history and log; nothing if that is not known."""
        return _read(self.of(run) / "outcome.json")

    def missing(self) -> list[Run]:
        """The runs that have no result: neither done nor diverged."""
        return [run for run in self.plan.runs if self.outcome(run).get("status") not in RESULTS]

    def note_running(self, rounds: dict[str, int]) -> None:
        """Write down which runs are being computed, and in which round they are."""
        with suppress(PermissionError):  # Windows replaces no file that somebody reads: the next note comes soon
            _replace(self._running, json.dumps(rounds))

    def running(self) -> dict[str, int]:
        """Digest and round of what is being computed now; nothing if no process writes the sweep."""
        return _read(self._running) if lock.is_held(self._lock) else {}

    def write_tables(self) -> float:
        """Write table.csv, curves.csv and timings.csv, and return the seconds of computation in all runs.

        In the order of the grid, whoever computed what: all but timings.csv are the same bytes for the same runs.
        """
        tables: dict[str, list[dict[str, Any]]] = {"table": [], "curves": [], "timings": []}
        for run in self.plan.runs:
            outcome = self.outcome(run)
            if outcome.get("status") in RESULTS:
                history = History.load(self.of(run) / "history.npz")
                about = {"run": run.digest} | {name: run.axes.get(name) for name in self.plan.axes}
                tables["table"].append(about | _summary(history, outcome, self.plan.target))
                tables["curves"] += [about | _measured(row) for row in history.rows()]
                timings = {name: outcome[name] for name in ("seconds", "wall", "resumed", "worker")}
                tables["timings"].append({"run": run.digest} | timings)
        for name, rows in tables.items():
            with files.replacing(self.tables / f"{name}.csv") as file:
                file.write(pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\n").encode())
        return sum(row["seconds"] for row in tables["timings"])


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    """A record without its seconds, and with another name for the rate of its round: "lr" is what was asked for."""
    return {("round_lr" if name == "lr" else name): value for name, value in row.items() if name != "seconds"}


def _summary(history: History, outcome: dict[str, Any], target: float | None) -> dict[str, Any]:
    """The result of one run. A run that diverged has no final accuracy, but a best one and what it had cost."""
    records, diverged = history.records, outcome["status"] == "diverged"
    last = records[-1] if records else None
    ended = None if diverged else last
    accuracies = [record.test_accuracy for record in records if not math.isnan(record.test_accuracy)]
    summary = {
        "final_accuracy": ended and ended.test_accuracy,
        "best_accuracy": max(accuracies, default=None),
        "final_test_loss": ended and ended.test_loss,
        "worst_decile": history.clients and history.clients.worst_decile,
        "bytes": last.bytes_up + last.bytes_down if last else 0,
        "server_updates": last.server_updates if last else 0,
        "diverged_round": outcome["round"] if diverged else None,
    }
    if target is not None:
        summary["rounds_to_target"] = next((one.round for one in records if one.test_accuracy >= target), None)
    return summary


def _read(path: Path) -> dict[str, Any]:
    """What a file of JSON holds; nothing if there is none, or a broken one."""
    with suppress(OSError, ValueError):
        return dict(json.loads(path.read_text(encoding="utf-8")))
    return {}


def _replace(path: Path, text: str) -> None:
    """Write ``path`` at once, so that nobody reads half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
