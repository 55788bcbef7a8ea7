"""What a room keeps on disk, so that a server that was killed goes on: no name, no drawing."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedlab_core import files
from fedlab_core.aliases import Config

FORMAT = 1


class KeptRoom:
    """The files of a room in ``path``: its state, a checkpoint, and the history of each run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.room = path / "room.json"
        self.checkpoint = path / "checkpoint.npz"

    def history(self, run: int, algorithm: str) -> Path:
        return self.path / f"run-{run:03d}-{algorithm}.npz"

    def last_run(self) -> int:
        """The highest number of a run whose history is there, or 0."""
        names = [path.name.split("-")[1] for path in self.path.glob("run-*-*.npz")]
        return max((int(name) for name in names if name.isdecimal()), default=0)

    def save(self, state: Mapping[str, Any]) -> None:
        """Write the state of the room; nobody else on this machine may read it."""
        with files.replacing(self.room) as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps({"format": FORMAT, **state}).encode())

    def load(self) -> Config | None:
        """The state of the room, or None if there is none. Raises ``ValueError`` for a damaged
        file.
        """
        if not self.room.exists():
            return None
        with files.reading(self.room, "room"):
            state = json.loads(self.room.read_text(encoding="utf-8"))
            if state["format"] != FORMAT:
                raise ValueError(f"its format is {state['format']}, not {FORMAT}")
        return dict(state)

    def forget_run(self) -> None:
        """Remove the checkpoint of a run that is over."""
        self.checkpoint.unlink(missing_ok=True)
