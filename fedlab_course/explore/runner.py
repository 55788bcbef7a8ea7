"""Training in the background: the newest request wins within one round, and finished runs are kept.

The worker always trains one round of the requested curve that has the fewest. Equal curves with
different numbers of ``rounds`` are one run, which continues to more rounds.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fedlab_core.simulation import Diverged

# One thread for all runners: two runs at once would only slow each other down.
_worker = futures.ThreadPoolExecutor(1, "explorer")
_collected: dict[int, list[str]] = {}  # thread → the texts of its warnings


@dataclass
class CurveRun:
    """A run of the latest ``curve`` among equal ones.

    ``history`` is None until the first round has begun; ``cohorts``: the clients of each round,
    sorted; ``error`` has ended the run.
    """

    curve: Any
    simulation: Any = None
    history: Any = None
    cohorts: list[list[int]] = field(default_factory=list)
    error: BaseException | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        return 0 if self.history is None else len(self.history.records)

    @property
    def finished(self) -> bool:
        return self.error is not None or self.rounds >= self.curve.rounds


class Runner:
    """Train curves in the background.

    ``start``: curve → simulation of its rounds; with a second argument, a simulation of an equal
    curve, it returns one that continues. ``listener`` is called after each round. A finished run
    that is no longer requested keeps its history and loses its state, which may be large.
    """

    def __init__(
        self, start: Callable[..., Any], listener: Callable[[], None] = lambda: None
    ) -> None:
        self._start = start
        self._listener = listener
        self._lock = threading.RLock()
        self._runs: dict[Any, CurveRun] = {}
        self._wanted: tuple[Any, ...] = ()
        self.stopped = False
        self._not_before = 0.0
        self._future: futures.Future[None] | None = None  # of the next step; None at rest
        self._began = self._ended = time.monotonic()

    def request(self, curves: Sequence[Any], delay: float = 0.0) -> None:
        """Train these curves and no others, after ``delay`` seconds without a newer request."""
        with self._lock:
            self._wanted = tuple(dict.fromkeys(curves))
            self.stopped = False
            for curve, run in list(self._runs.items()):
                if run.error is not None or not (run.finished or curve in self._wanted):
                    del self._runs[curve]  # a failed run is tried again
                elif curve not in self._wanted:
                    run.simulation = None
            for curve in self._wanted:
                self._runs.setdefault(curve, CurveRun(curve)).curve = curve
            self._began = self._ended = time.monotonic()
            self._not_before = self._began + delay
            if (self._future is None or self._future.done()) and self._next() is not None:
                self._future = _worker.submit(self._step)

    def stop(self) -> None:
        """Stop within one round. The same request again continues from there."""
        self.stopped = True

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the end of the request.

        Raises the first error of its runs, and ``TimeoutError``. A run that diverged is a result,
        not an error.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while (future := self._future) is not None:
            futures.wait([future], None if end is None else end - time.monotonic())
            if not future.done():
                raise TimeoutError(f"still training after {timeout:g} s")
            future.result()  # raises an error of the listener
        for run in self.runs():
            if run.error is not None and not isinstance(run.error, Diverged):
                raise run.error

    @property
    def busy(self) -> bool:
        """Whether a requested curve is still in training."""
        return not self.stopped and self._next() is not None

    @property
    def elapsed(self) -> float:
        """Seconds that the latest request has taken so far."""
        return (time.monotonic() if self.busy else self._ended) - self._began

    def runs(self) -> list[CurveRun]:
        """The runs of the latest request, in its order."""
        with self._lock:
            return [self._runs[curve] for curve in self._wanted]

    def _next(self) -> CurveRun | None:
        return min(
            (run for run in self.runs() if not run.finished),
            key=lambda run: run.rounds,
            default=None,
        )

    def _step(self) -> None:
        """Train a round once the delay of the request is over; then comes the next step, if there
        is more to train.
        """
        while (rest := self._not_before - time.monotonic()) > 0 and not self.stopped:
            time.sleep(min(rest, 0.02))
        run = None if self.stopped else self._next()
        if run is not None:
            self._advance(run)
        self._listener()
        with self._lock:
            self._future = _worker.submit(self._step) if self.busy else None

    def _advance(self, run: CurveRun) -> None:
        """Train one round of one run. An error ends the run and stays with it."""
        try:
            with _collecting(run.warnings):
                simulation = run.simulation
                if simulation is None:
                    simulation = self._start(run.curve)
                    run.cohorts = []
                elif (
                    simulation.settings.rounds != run.curve.rounds
                ):  # another number is requested now
                    simulation = self._start(run.curve, simulation)
                run.simulation = simulation
                run.history = simulation.history
                next(simulation)
                run.cohorts.append(
                    sorted({int(client) for cohort in simulation.cohorts for client in cohort})
                )
        except BaseException as error:
            run.error = error
            run.simulation = None
        self._ended = time.monotonic()


@contextmanager
def _collecting(texts: list[str]) -> Iterator[None]:
    """Append new warnings of this thread to ``texts``: printed, they would appear in whatever cell
    is current.

    ``warnings.catch_warnings`` would change the filters of every thread.
    """
    before = warnings.showwarning
    if not hasattr(before, "dispatches"):

        def show(message: Any, *place: Any, **more: Any) -> None:
            mine = _collected.get(threading.get_ident())
            if mine is None:
                before(message, *place, **more)
            elif str(message) not in mine:
                mine.append(str(message))

        show.dispatches = True  # type: ignore[attr-defined]
        warnings.showwarning = show
    _collected[threading.get_ident()] = texts
    # The default filter, only because Python shows a warning again after its filters have changed.
    warnings.simplefilter("default", append=True)
    try:
        yield
    finally:
        del _collected[threading.get_ident()]
        warnings.simplefilter("default", append=True)
