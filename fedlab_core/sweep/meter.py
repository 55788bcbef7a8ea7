"""The progress of a sweep: rounds and runs that are done, and the time that remains."""

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, Self

from tqdm.auto import tqdm

from fedlab_core.progress import watched
from fedlab_core.sweep.folder import Folder
from fedlab_core.sweep.runs import Run, in_words
from fedlab_core.sweep.work import Outcome

_PAUSE = 1.0  # seconds between two notes of what is running


class Meter:
    """A bar over the rounds of all runs for a person who watches; elsewhere a line for each run that has ended."""

    def __init__(self, folder: Folder, runs: Sequence[Run], missing: Sequence[Run]) -> None:
        self._folder, self._rounds = folder, {run.digest: int(run.config["rounds"]) for run in missing}
        self._runs, self._ended = len(runs), len(runs) - len(missing)
        self._running: dict[str, int] = {}
        self._left, self._done, self._begun, self._noted = sum(self._rounds.values()), 0, time.monotonic(), 0.0
        self._lock = threading.Lock()
        total = sum(int(run.config["rounds"]) for run in runs)
        options: dict[str, Any] = {"total": total, "initial": total - self._left, "unit": "round"}
        self._bar = tqdm(desc=folder.tables.name, **options) if watched() else None

    def heard(self, digest: str, round: int) -> None:
        """A run has reached a round: called by Dask's own thread."""
        with self._lock:
            if digest not in self._rounds:
                return
            self._advance(round - self._running.get(digest, 0))
            self._running[digest] = round
            if time.monotonic() >= self._noted + _PAUSE:
                self._folder.note_running(self._running)
                self._noted = time.monotonic()

    def ended(self, run: Run, outcome: Outcome, label: dict[str, Any]) -> None:
        """A run is done, has diverged or has failed."""
        with self._lock:
            self._advance(self._rounds.pop(run.digest) - self._running.pop(run.digest, 0))
            self._ended += 1
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._ended} of {self._runs} runs")
        else:
            self._say(f"[{self._ended}/{self._runs}] {in_words(label)}: {_result(outcome)}; {self._remaining()}")
        if outcome.status == "failed":
            self._say(f"failed: {in_words(label)}: {outcome.message}")

    def _advance(self, rounds: int) -> None:
        self._done += rounds
        if self._bar is not None:
            self._bar.update(rounds)

    def _remaining(self) -> str:
        seconds = (time.monotonic() - self._begun) * (self._left - self._done) / max(1, self._done)
        return f"{in_time(seconds)} remain"

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


def in_time(seconds: float) -> str:
    """Hours, minutes and seconds, as in "1:02:03" or "0:07"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _result(outcome: Outcome) -> str:
    if outcome.status == "done" and outcome.history is not None:
        last = outcome.history.records[-1]
        return f"test accuracy {last.test_accuracy:.4f} ({outcome.seconds:.1f} s)"
    return f"{outcome.status} in round {outcome.round}"
