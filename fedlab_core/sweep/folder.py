"""The folder of sweeps: ``runs/DIGEST`` for each run, and ``NAME`` for the tables of a sweep."""

import contextlib
import json
import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pandas as pd

from fedlab_core import files
from fedlab_core.aliases import Config
from fedlab_core.history import History
from fedlab_core.sweep.crew import CHECKPOINT, Outcome
from fedlab_core.sweep.plan import Plan, Run, run_digest

RESULTS = ("done", "diverged")
_FACTS = [field.name for field in fields(Outcome) if field.name not in ("history", "log")]


class Folder:
    """``path``, with the results of the runs of a ``plan`` and the tables of its sweep."""

    def __init__(self, path: str | Path, plan: Plan) -> None:
        self.path = Path(path).resolve()
        self.plan = plan
        self.runs = self.path / "runs"
        self.tables = self.path / plan.name

    def of(self, run: Run) -> Path:
        """The folder of a run.

        It has config.json, history.npz, outcome.json, log.txt and, until the run ends,
        checkpoint.npz.
        """
        return self.runs / run.digest

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Let one process at a time write the sweep; others wait.

        ``ValueError`` for another grid of the same name.
        """
        with files.locked(self.tables / "lock"):
            source = self.tables / "grid.txt"
            earlier = self.plan.source
            if source.exists():
                earlier = Path(source.read_text(encoding="utf-8").strip())
            if earlier != self.plan.source and earlier.exists():
                raise ValueError(
                    f"{self.tables}: has the tables of {earlier}, a grid with the same file name; "
                    f"rename {self.plan.source}, or give another folder with --out"
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
        facts = {name: getattr(outcome, name) for name in _FACTS}
        _write(folder / "outcome.json", json.dumps(facts, indent=1) + "\n")
        if outcome.status in RESULTS:
            (folder / CHECKPOINT).unlink(missing_ok=True)

    def outcome(self, run: Run) -> Config:
        """The result of a run without history and log.

        It is empty if the run has not ended or the file is damaged.
        """
        with contextlib.suppress(OSError, ValueError):
            facts = json.loads((self.of(run) / "outcome.json").read_text(encoding="utf-8"))
            if isinstance(facts, dict) and facts.keys() == set(_FACTS):
                return facts
        return {}

    def status(self, run: Run) -> str:
        """One of done, diverged, failed, begun (there is a checkpoint) and waiting."""
        is_begun = (self.of(run) / CHECKPOINT).exists()
        return self.outcome(run).get("status", "begun" if is_begun else "waiting")

    def write_tables(self) -> float:
        """Write table.csv, curves.csv and timings.csv, and return the seconds of computation in all
        runs.

        Rows are in the order of the grid: all but timings.csv are the same bytes for the same runs.
        """
        tables: dict[str, list[Config]] = {"table": [], "curves": [], "timings": []}
        for run in self.plan.runs:
            if self.status(run) in RESULTS:
                outcome = self.outcome(run)
                history = self._history(run)
                about = {"run": run.digest} | {name: run.axes.get(name) for name in self.plan.axes}
                tables["table"].append(about | _summary(history, outcome, self.plan.target))
                tables["curves"] += [about | _measured(row) for row in history.rows()]
                timings = {name: outcome[name] for name in ("seconds", "resumed", "worker")}
                tables["timings"].append({"run": run.digest} | timings)
        for name, rows in tables.items():
            text = pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\n")
            _write(self.tables / f"{name}.csv", text)
        return sum(row["seconds"] for row in tables["timings"])

    def _history(self, run: Run) -> History:
        """The history of a run; ``ValueError`` if it is missing, damaged or of another run."""
        path = self.of(run) / "history.npz"
        try:
            history = History.load(path)
            digest = run_digest(history.config)
            if digest != run.digest:
                raise ValueError(f"{path}: is the history of the run {digest}")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{error}. Remove the folder {path.parent} and run the sweep again"
            ) from error
        return history


def _measured(row: Config) -> Config:
    """A record without its seconds; the rate of its round is "round_lr"; "lr" is the setting."""
    measured = {}
    for name, value in row.items():
        if name != "seconds":
            measured["round_lr" if name == "lr" else name] = value
    return measured


def _summary(history: History, outcome: Config, target: float | None) -> Config:
    """The result of one run.

    A run that diverged has no final accuracy, but a best one and its cost.
    """
    records = history.records
    has_diverged = outcome["status"] == "diverged"
    last = records[-1] if records else None
    final = None if has_diverged else last
    accuracies = [record.test_accuracy for record in records]
    summary = {
        "final_accuracy": final and final.test_accuracy,
        "best_accuracy": max((a for a in accuracies if not math.isnan(a)), default=None),
        "final_test_loss": final and final.test_loss,
        "worst_decile": history.clients and history.clients.worst_decile,
        "bytes": last.bytes_up + last.bytes_down if last else 0,
        "server_updates": last.server_updates if last else 0,
        "diverged_round": outcome["round"] if has_diverged else None,
    }
    if target is not None:
        reached = [record.round for record in records if record.test_accuracy >= target]
        summary["rounds_to_target"] = reached[0] if reached else None
    return summary


def _write(path: Path, text: str) -> None:
    with files.replacing(path) as file:
        file.write(text.encode())
