"""The folder of sweeps: ``runs/DIGEST`` for each run, whoever asks for it, and ``NAME`` for the tables of a sweep."""

import json
import os
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from fedlab_core.data.disk import lock
from fedlab_core.history import History
from fedlab_core.sweep.runs import Run
from fedlab_core.sweep.work import CHECKPOINT, MARK, Outcome

RESULTS = ("done", "diverged")
_HISTORY, _OUTCOME, _RUNNING = "history.npz", "outcome.json", "running.json"


class Folder:
    """``path``, with what is known of each run in it, and the tables of the sweep ``name``."""

    def __init__(self, path: str | Path, name: str) -> None:
        self.path = Path(path).resolve()
        self.tables = self.path / name
        self._name = name

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
        return lock.locked(self._lock, f"the sweep {self._name} in {self.path}")

    @property
    def _lock(self) -> Path:
        return self.tables / "lock"

    def prepare(self, run: Run) -> None:
        """Make the folder of a run, with its configuration."""
        folder = self.of(run)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(run.config, indent=1) + "\n", encoding="utf-8")

    def keep(self, run: Run, outcome: Outcome) -> None:
        """Write what became of a run. It counts once its outcome.json is there, which comes last."""
        folder = self.of(run)
        if outcome.history is not None:
            outcome.history.save(folder / _HISTORY)
        facts = {key: value for key, value in vars(outcome).items() if key not in ("history", "notes")}
        began = f"{outcome.worker}, from round {outcome.resumed}"
        with (folder / "log.txt").open("a", encoding="utf-8") as log:
            for line in [f"{outcome.status} in round {outcome.round}: {began}. {outcome.message}", *outcome.notes]:
                log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {line}\n")
        _replace(folder / _OUTCOME, json.dumps(facts, indent=1) + "\n")
        if outcome.status in RESULTS:
            (folder / CHECKPOINT).unlink(missing_ok=True)

    def outcome(self, run: Run) -> dict[str, Any]:
        """What :meth:`keep` has written of a run but for history and notes; nothing if it has not to the end."""
        with suppress(OSError, ValueError):
            found = json.loads((self.of(run) / _OUTCOME).read_text(encoding="utf-8"))
            if found["status"] == "failed" or (self.of(run) / _HISTORY).is_file():
                return dict(found)
        return {}

    def history(self, run: Run) -> History:
        """The history of a run that is done or has diverged."""
        return History.load(self.of(run) / _HISTORY)

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Those that have no result: neither done nor diverged."""
        return [run for run in runs if self.outcome(run).get("status") not in RESULTS]

    def note_running(self, rounds: Mapping[str, int]) -> None:
        """Write down which runs are being computed, and in which round they are."""
        _replace(self.tables / _RUNNING, json.dumps(rounds))

    def running(self) -> dict[str, int]:
        """Digest and round of what is being computed now; nothing if no process writes the sweep."""
        if not lock.is_held(self._lock):
            return {}
        with suppress(OSError, ValueError):
            return dict(json.loads((self.tables / _RUNNING).read_text(encoding="utf-8")))
        return {}


def _replace(path: Path, text: str) -> None:
    """Write ``path`` at once, so that nobody reads half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
