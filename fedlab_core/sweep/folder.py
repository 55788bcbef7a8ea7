"""The folder of sweeps: ``runs/DIGEST`` for each run, and ``NAME`` for the tables of a sweep."""

import contextlib
import json
import math
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd

from fedlab_core import files
from fedlab_core.history import History
from fedlab_core.sweep.cluster import MARK
from fedlab_core.sweep.crew import CHECKPOINT, Outcome
from fedlab_core.sweep.plan import Plan, Run, run_digest
from fedlab_core.validation import matches

RESULTS = ("done", "diverged")
_FACTS = {name: kind for name, kind in get_type_hints(Outcome).items() if name not in ("history", "log")}


class Folder:
    """``path``, with the results of the runs of a ``plan`` and the tables of its sweep."""

    def __init__(self, path: str | Path, plan: Plan) -> None:
        self.path, self.plan = Path(path).resolve(), plan
        self.tables = self.path / plan.name
        self._lock, self._running = self.tables / "lock", self.tables / "running.json"

    def of(self, run: Run) -> Path:
        """The folder of a run: config.json, history.npz, outcome.json, log.txt and, until it ends, checkpoint.npz."""
        return self.path / "runs" / run.digest

    def word(self) -> str:
        """The word by which a worker recognises this folder."""
        mark = self.path / MARK
        if not mark.exists():
            _write(mark, uuid.uuid4().hex)
        return mark.read_text(encoding="utf-8")

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Let one process at a time write the sweep; others wait. ``ValueError`` for another grid of the same name."""
        with files.locked(self._lock):
            source = self.tables / "grid.txt"
            earlier = Path(source.read_text(encoding="utf-8").strip()) if source.exists() else self.plan.source
            if earlier != self.plan.source and earlier.exists():
                raise ValueError(
                    f"{self.tables}: has the tables of {earlier}, a grid with the same file name; rename "
                    f"{self.plan.source}, or give another folder with --out"
                )
            _write(source, f"{self.plan.source}\n")
            yield

    def prepare(self, run: Run) -> None:
        """Make the folder of a run, with its configuration."""
        _write(self.of(run) / "config.json", json.dumps(run.config, indent=1) + "\n")

    def keep(self, run: Run, outcome: Outcome) -> None:
        """Write the result of a run; outcome.json comes last, and a run without it is not done."""
        folder = self.of(run)
        if outcome.history is not None:
            outcome.history.save(folder / "history.npz")
        with (folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(outcome.log)
        _write(folder / "outcome.json", json.dumps({name: getattr(outcome, name) for name in _FACTS}, indent=1) + "\n")
        if outcome.status in RESULTS:
            (folder / CHECKPOINT).unlink(missing_ok=True)

    def outcome(self, run: Run) -> dict[str, Any]:
        """The result of a run without history and log; empty if it is missing or damaged."""
        found = _read(self.of(run) / "outcome.json")
        return found if all(matches(found.get(name), kind) for name, kind in _FACTS.items()) else {}

    def missing(self) -> list[Run]:
        """The runs that are neither done nor diverged."""
        return [run for run in self.plan.runs if self.outcome(run).get("status") not in RESULTS]

    def note_running(self, rounds: dict[str, int]) -> None:
        """Write which runs are being computed, and in which round they are."""
        with contextlib.suppress(PermissionError):  # Windows cannot replace a file that is being read
            _write(self._running, json.dumps(rounds))

    def running(self) -> dict[str, int]:
        """Digest and round of the runs that are being computed; empty if no process writes the sweep."""
        return _read(self._running) if files.is_held(self._lock) else {}

    def write_tables(self) -> float:
        """Write table.csv, curves.csv and timings.csv, and return the seconds of computation in all runs.

        Rows are in the order of the grid: all but timings.csv are the same bytes for the same runs.
        """
        tables: dict[str, list[dict[str, Any]]] = {"table": [], "curves": [], "timings": []}
        for run in self.plan.runs:
            outcome = self.outcome(run)
            if outcome.get("status") in RESULTS:
                history = self._history(run)
                about = {"run": run.digest} | {name: run.axes.get(name) for name in self.plan.axes}
                tables["table"].append(about | _summary(history, outcome, self.plan.target))
                tables["curves"] += [about | _measured(row) for row in history.rows()]
                timings = {name: outcome[name] for name in ("seconds", "wall", "resumed", "worker")}
                tables["timings"].append({"run": run.digest} | timings)
        for name, rows in tables.items():
            text = pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\n")
            _write(self.tables / f"{name}.csv", text)
        return sum(row["seconds"] for row in tables["timings"])

    def _history(self, run: Run) -> History:
        """The history of a run; ``ValueError`` if the file is missing, damaged or of another run."""
        path = self.of(run) / "history.npz"
        try:
            history = History.load(path)
            if (found := run_digest(history.config)) != run.digest:
                raise ValueError(f"{path}: is the history of the run {found}")
        except (OSError, ValueError) as error:
            raise ValueError(f"{error}. Remove the folder {path.parent} and run the sweep again") from error
        return history


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    """A record without its seconds; the rate of its round is "round_lr", because "lr" is the setting."""
    return {("round_lr" if name == "lr" else name): value for name, value in row.items() if name != "seconds"}


def _summary(history: History, outcome: dict[str, Any], target: float | None) -> dict[str, Any]:
    """The result of one run. A run that diverged has no final accuracy, but a best one and its cost."""
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
    """The dictionary in a JSON file; empty if there is none, or the file is damaged."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _write(path: Path, text: str) -> None:
    with files.replacing(path) as file:
        file.write(text.encode())
