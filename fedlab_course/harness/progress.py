"""The progress of a run: in a terminal a bar for each running notebook, elsewhere lines.

A notebook prints a line when it starts, when it ends, and every ``HEARTBEAT`` seconds between.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Self

from tqdm.auto import tqdm

from fedlab_core.progress import watched

HEARTBEAT = 30.0
_TICK = 1.0


@dataclass
class _Stage:
    """A running notebook: the ``number`` of its cell out of ``total``, and the time of its last line."""

    total: int
    bar: Any
    number: int = 0
    start: float = field(default_factory=time.monotonic)
    said: float = field(default_factory=time.monotonic)


class Progress:
    """The running notebooks, used in a ``with`` block; any thread may report."""

    def __init__(self) -> None:
        self._watched = watched()
        self._stages: dict[str, _Stage] = {}
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._ticker.join()
        with self._lock:
            for name in list(self._stages):
                self._close(name)

    def started(self, name: str, total: int) -> None:
        """A notebook of ``total`` cells begins."""
        with self._lock:
            bar = tqdm(total=total, desc=name, unit="cell", leave=False) if self._watched else None
            self._stages[name] = _Stage(total, bar)
            if bar is None:
                self._say(f"{name}: started")

    def reached(self, name: str, number: int) -> None:
        """A notebook begins its cell ``number``, counted from 1."""
        with self._lock:
            stage = self._stages[name]
            stage.number = number
            if stage.bar is not None:
                stage.bar.update(number - 1 - stage.bar.n)

    def finished(self, name: str, result: str) -> None:
        """A notebook has ended; ``result`` is a short text."""
        with self._lock:
            self._close(name)
            self._say(f"{name}: {result}")

    def _close(self, name: str) -> None:
        stage = self._stages.pop(name)
        if stage.bar is not None:
            stage.bar.close()

    def _say(self, line: str) -> None:
        if self._watched:
            tqdm.write(line)
        else:
            print(line, flush=True)

    def _tick(self) -> None:
        """Update bars and print heartbeats during long cells."""
        while not self._ended.wait(min(_TICK, HEARTBEAT)):
            with self._lock:
                for name, stage in self._stages.items():
                    now = time.monotonic()
                    if stage.bar is not None:
                        stage.bar.refresh()
                    elif now - stage.said >= HEARTBEAT:
                        stage.said = now
                        self._say(f"{name}: cell {stage.number} of {stage.total}, {now - stage.start:.0f} s")
