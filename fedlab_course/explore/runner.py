"""Training in the background: the newest request wins, one round at a time, finished runs are kept.

A request is a list of curves. The worker trains one round of the wanted curve that has the fewest rounds, and then
looks again at what is wanted: a new request or a stop takes effect within one round. Equal curves may want different
numbers of ``rounds``: they are one run, which continues to more rounds and is left alone if it has enough.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedlab_course.explore import warned

_ONE_ROUND_AT_A_TIME = threading.Lock()  # over all runners: two runs at once would only slow each other down
_KEPT = 200  # finished runs


@dataclass
class Run:
    """One run as its ``curve`` was wanted last.

    ``simulation`` makes ``reach`` rounds (None if unknown before its end); ``history`` is None until the first round
    has begun; ``rounds`` are done; ``error`` is what ended the run, if anything did.
    """

    curve: Any
    simulation: Any = None
    history: Any = None
    rounds: int = 0
    reach: int | None = None
    ended: bool = False
    error: Exception | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> int | None:
        """The rounds that the curve wants; None for a curve without ``rounds``."""
        return getattr(self.curve, "rounds", None)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        enough = self.wanted is not None and self.rounds >= self.wanted
        return enough or self.error is not None or (self.ended and self.reach == self.wanted)


class Runner:
    """Trains curves in a background thread.

    ``start``: curve → simulation, an iterator over rounds with a ``history``; with a second argument, the simulation
    so far, it returns one that continues. ``listener`` is called without arguments, in the worker's thread, after each
    round and once when nothing is left to do. A finished run that is not wanted any more keeps its history and gives
    up its state: it cannot continue to more rounds.
    """

    def __init__(self, start: Callable[..., Any], listener: Callable[[], None] = lambda: None) -> None:
        self._start, self._listener = start, listener
        self._changed = threading.Condition()
        self._runs: dict[Hashable, Run] = {}
        self._wanted: tuple[Hashable, ...] = ()
        self.stopped = False
        self.advancing = False  # a round is being trained
        self._not_before = 0.0
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._began = self._ended = time.monotonic()

    def request(self, curves: Sequence[Hashable], delay: float = 0.0) -> None:
        """Train these curves and no others, after ``delay`` seconds without a newer request."""
        with self._changed:
            self._wanted = tuple(dict.fromkeys(curves))
            self.stopped, self._failure = False, None
            self._drop_unwanted()
            for curve in self._wanted:
                run = self._runs.pop(curve, Run(curve))
                run.curve, self._runs[curve] = curve, run  # the latest come last
            self._began = self._ended = time.monotonic()
            self._not_before = self._began + delay
            self._changed.notify_all()
            if self._thread is None and self._next() is not None:
                self._thread = threading.Thread(target=self._work, name="explorer", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Stop within one round. The same request again continues from there."""
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until nothing is left to do. Raises the first error of the wanted runs, and ``TimeoutError``."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._thread is None, timeout):
                raise TimeoutError(f"still training after {timeout:g} s")
            errors = [self._failure, *(self._runs[curve].error for curve in self._wanted)]
        for error in errors:
            if error is not None:
                raise error

    @property
    def busy(self) -> bool:
        """Whether a wanted curve is still to be trained."""
        with self._changed:
            return not self.stopped and self._next() is not None

    @property
    def elapsed(self) -> float:
        """Seconds that the latest request has taken so far."""
        return (time.monotonic() if self.busy else self._ended) - self._began

    def runs(self) -> list[Run]:
        """The runs of the latest request, in its order."""
        with self._changed:
            return [self._runs[curve] for curve in self._wanted]

    def _next(self) -> Run | None:
        waiting = [self._runs[curve] for curve in self._wanted if not self._runs[curve].finished]
        return min(waiting, key=lambda run: run.rounds, default=None)

    def _drop_unwanted(self) -> None:
        """Forget unfinished runs that nobody wants, failed runs (to try again), and the oldest finished runs."""
        keep = {c: run for c, run in self._runs.items() if run.error is None and (run.finished or c in self._wanted)}
        unwanted = [curve for curve in keep if curve not in self._wanted]
        for curve in unwanted:
            keep[curve].simulation = None  # its tables for all clients may be large
        for curve in unwanted[: max(0, len(keep) - _KEPT)]:
            del keep[curve]
        self._runs = keep

    def _work(self) -> None:
        try:
            while True:
                run = self._take()
                if run is not None:
                    self._advance(run)
                self._listener()
                with self._changed:
                    if run is None and (self.stopped or self._next() is None):
                        return self._leave()
        except BaseException as error:  # of the listener: `wait` raises it
            with self._changed:
                self._failure = _as_error(error)
                self._wanted = ()
                self._leave()

    def _leave(self) -> None:
        self._thread = None
        self._changed.notify_all()

    def _take(self) -> Run | None:
        """The next run to train, once the request is as old as its delay; None if there is nothing to do."""
        with self._changed:
            while (rest := self._not_before - time.monotonic()) > 0 and not self.stopped:
                self._changed.wait(rest)
            return None if self.stopped else self._next()

    def _advance(self, run: Run) -> None:
        """Train one round of one run. An error ends the run and stays with it."""
        self.advancing = True
        try:
            with _ONE_ROUND_AT_A_TIME, warned.collected() as texts:
                next(self._simulation_of(run))
            run.rounds += 1
        except StopIteration:
            run.ended = True
        except BaseException as error:
            run.error, run.simulation = _as_error(error), None
        self.advancing = False
        run.warnings += [text for text in texts if text not in run.warnings]
        self._ended = time.monotonic()

    def _simulation_of(self, run: Run) -> Any:
        """A simulation of as many rounds as are wanted, which continues the run if it has a state."""
        if run.simulation is None:
            run.simulation, run.rounds = self._start(run.curve), 0
        elif run.reach != run.wanted:
            run.simulation = self._start(run.curve, run.simulation)
        run.history, run.reach, run.ended = run.simulation.history, run.wanted, False
        return run.simulation


def _as_error(error: BaseException) -> Exception:
    """The error itself, or one that names it if raising it would end the thread of ``wait`` (SystemExit)."""
    if isinstance(error, Exception):
        return error
    named = RuntimeError(f"the training ended with {error!r}")
    named.__cause__ = error
    return named
