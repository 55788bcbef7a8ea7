"""Run the code of others: for a limited time, with whatever it raises, and look at what it gives.

Nothing here lets an adapter pass because it ended early, never ended, or gave something that is no
array of numbers.
"""

import itertools
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from fedconform.formulas.local_training import Answer
from fedconform.tasks.task import Task


class TimeIsUp(BaseException):
    """Raised inside an adapter; no ``except Exception`` of its own catches it."""


class Failed(Exception):
    """What an adapter did instead of an answer."""


def ask(
    adapter: Callable[[Task], Any], task: Task, expected: Sequence[Answer], limit: float
) -> list[Answer]:
    """The answer of an adapter, one dictionary a round, with the shapes of ``expected``.

    Raises ``NotImplementedError`` as the adapter does, and :class:`Failed` for anything else.
    ``limit``: seconds.
    """
    try:
        return in_time(limit, lambda: answer_of(adapter(task), expected))
    except (NotImplementedError, KeyboardInterrupt):
        raise
    except TimeIsUp:
        raise Failed(f"no answer after {limit:g} seconds") from None
    except SystemExit as error:
        raise Failed(f"SystemExit: the adapter ended the program, status {error.code!r}") from error
    except BaseException as error:  # whatever an implementation raises is its result
        raise Failed(f"{type(error).__name__}: {error}") from error


def answer_of(value: Any, expected: Sequence[Answer]) -> list[Answer]:
    """What an adapter returned, one dictionary a round.

    Raises ``ValueError`` or ``TypeError`` for other keys, shapes and types than promised.
    """
    needed = "importance" if "importance" in expected[0] else "w"
    series = value if isinstance(value, Mapping) else {"w": value}
    if needed not in series:
        raise ValueError(f"the adapter must return {needed!r}, got {sorted(map(str, series))}")
    answers = [Answer() for _ in expected]
    for name, given in series.items():
        if name not in expected[0]:
            known = ", ".join(map(repr, expected[0]))
            raise ValueError(f"unknown key {name!r}: this task has {known}")
        for answer, right, array in zip(
            answers, expected, _per_round(name, given, len(expected)), strict=True
        ):
            answer[name] = _array(name, array, right[name].shape)
    return answers


def _per_round(name: str, given: Any, rounds: int) -> list[Any]:
    """The values of each round. Of a generator no more is taken than is needed to count."""
    if name == "importance":
        return [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"{name}: one array a round is needed, got {type(given).__name__}")
    values = list(itertools.islice(given, rounds + 1))
    if len(values) != rounds:
        count = f"more than {rounds}" if len(values) > rounds else str(len(values))
        if isinstance(given, Sequence | np.ndarray):
            count = str(len(given))
        raise ValueError(f"{name}: one array a round is needed, {rounds} in all, got {count}")
    return values


def _array(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A value as an array of float64."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: is a masked array; give a plain array of real numbers")
    array = np.array(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: must have real numbers, got the type {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name}: must have the shape {shape}, got {array.shape}")
    return array.astype(np.float64)


def in_time(limit: float, function: Callable[[], Any]) -> Any:
    """The result of ``function``. Raises :class:`TimeIsUp` after ``limit`` seconds.

    In the main thread an alarm interrupts the function, again and again until it ends. Elsewhere,
    and on Windows, the function runs in a thread that is left alone when the time is up.
    """
    alarms = hasattr(signal, "SIGALRM")
    if alarms and threading.current_thread() is threading.main_thread():
        return _with_alarm(limit, function)
    return _in_thread(limit, function)


def _with_alarm(limit: float, function: Callable[[], Any]) -> Any:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
    try:
        return function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_thread(limit: float, function: Callable[[], Any]) -> Any:
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:  # raised below, where it is waited for
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(limit)
    if errors:
        raise errors[0]
    if not results:
        raise TimeIsUp
    return results[0]
