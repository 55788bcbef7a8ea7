"""Training in the background: the newest request wins, one round at a time, finished runs are kept.

A request is a list of curves. The worker always trains the wanted curve that has the fewest rounds, one round of it,
and then looks again at what is wanted. A new request or a stop therefore takes effect within one round, and a curve
that two requests share goes on where it is. Equal curves may want different numbers of ``rounds``: they are one run,
which goes on to more rounds from where it is, and is left alone if it has as many as are wanted.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fedlab_course.explorer import warned

_ONE_ROUND_AT_A_TIME = threading.Lock()  # over all runners: two runs at once would only slow each other down


class Trainable(Protocol):
    """What the runner needs of a simulation."""

    history: Any

    def __next__(self) -> Any: ...


@dataclass
class Run:
    """One curve on its way, as it was wanted last.

    ``history`` is None until the first round has begun; ``rounds`` are done; ``reach``: how many ``simulation`` makes,
    None if that is not known before its end; ``error`` is what ended it, if any.
    """

    curve: Any
    simulation: Trainable | None = None
    history: Any = None
    rounds: int = 0
    reach: int | None = None
    ended: bool = False
    error: Exception | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> int | None:
        """The rounds that the curve wants; None for one that does not say so."""
        return getattr(self.curve, "rounds", None)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        enough = self.wanted is not None and self.rounds >= self.wanted
        return enough or self.error is not None or (self.ended and self.reach == self.wanted)


class Runner:
    """Trains curves in a background thread.

    ``start``: curve → simulation, an iterator over rounds with a ``history``; to go on with a run, curve and its
    simulation so far → another. ``listener`` is called without arguments, in the worker's thread, after each round and
    once when there is nothing left to do. ``capacity``: how many finished runs are kept. ``weigh``: simulation → its
    bytes; beside those that are wanted, the latest go on from where they are that take ``memory`` bytes together.
    """

    def __init__(
        self,
        start: Callable[..., Trainable],
        listener: Callable[[], None] = lambda: None,
        capacity: int = 200,
        *,
        weigh: Callable[[Any], int] = lambda simulation: 0,
        memory: int = 2**28,
    ) -> None:
        self._start, self._listener, self._capacity = start, listener, capacity
        self._weigh, self._memory = weigh, memory
        self._changed = threading.Condition()
        self._runs: dict[Hashable, Run] = {}
        self._wanted: tuple[Hashable, ...] = ()
        self._stopped = False
        self.advancing = False  # in the midst of a round
        self._not_before = 0.0
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._began = self._ended = time.monotonic()

    def request(self, curves: Sequence[Hashable], delay: float = 0.0) -> None:
        """Train these curves and no others, after ``delay`` seconds without a newer request."""
        with self._changed:
            self._wanted = tuple(dict.fromkeys(curves))
            self._stopped = False
            self._failure = None
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
        """Stop within one round. The same request again goes on from there."""
        with self._changed:
            self._stopped = True
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
            return not self._stopped and self._next() is not None

    @property
    def stopped(self) -> bool:
        return self._stopped

    @property
    def elapsed(self) -> float:
        """Seconds that the latest request has taken (so far)."""
        return (time.monotonic() if self.busy else self._ended) - self._began

    def runs(self) -> list[Run]:
        """The runs of the latest request, in its order."""
        with self._changed:
            return [self._runs[curve] for curve in self._wanted]

    def _next(self) -> Run | None:
        waiting = [self._runs[curve] for curve in self._wanted if not self._runs[curve].finished]
        return min(waiting, key=lambda run: run.rounds, default=None)

    def _drop_unwanted(self) -> None:
        """Forget unfinished runs that nobody wants, failed ones (to try again), and the oldest finished ones."""
        keep = {c: run for c, run in self._runs.items() if run.error is None and (run.finished or c in self._wanted)}
        surplus = [curve for curve in keep if curve not in self._wanted][: max(0, len(keep) - self._capacity)]
        self._runs = {curve: run for curve, run in keep.items() if curve not in surplus}
        room = self._memory
        for run in reversed(self._runs.values()):
            if run.curve not in self._wanted and run.simulation is not None:
                room -= self._weigh(run.simulation)
                if room < 0:
                    run.simulation = None

    def _work(self) -> None:
        try:
            while True:
                run = self._take()
                if run is not None:
                    self._advance(run)
                self._listener()
                with self._changed:
                    if run is None and (self._stopped or self._next() is None):
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
        """The run whose turn it is, once the request has rested for its delay; None if there is nothing to do."""
        with self._changed:
            while (rest := self._not_before - time.monotonic()) > 0 and not self._stopped:
                self._changed.wait(rest)
            return None if self._stopped else self._next()

    def _advance(self, run: Run) -> None:
        """One round of one run. An error ends the run and stays with it."""
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

    def _simulation_of(self, run: Run) -> Trainable:
        """The simulation of a run that makes as many rounds as are wanted; one from the beginning if it has none."""
        curve, wanted = run.curve, run.wanted
        if run.simulation is None:
            run.simulation, run.rounds = self._start(curve), 0
        elif run.reach != wanted:
            run.simulation = self._start(curve, run.simulation)
        run.history, run.reach, run.ended = run.simulation.history, wanted, False
        return run.simulation


def _as_error(error: BaseException) -> Exception:
    """The error itself, or one that names it if it would end the thread that ``wait`` is called in (SystemExit)."""
    if isinstance(error, Exception):
        return error
    named = RuntimeError(f"the training ended with {error!r}")
    named.__cause__ = error
    return named
