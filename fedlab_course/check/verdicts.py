"""Judge an answer and show the verdict."""

import contextlib
import inspect
import signal
import threading
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from fedlab_course import display
from fedlab_course.check import by_cases, under_nbgrader
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.check.described import Described, code, describe, line_of
from fedlab_course.check.latest import outdated
from fedlab_course.check.registry import get

MIME = "application/vnd.fedlab.exercise+json"
_WORDS = {"solved": "✓ solved", "wrong": "✗ not yet", "open": "○ to do"}
_WORDS |= {"not judged": "– not judged"}  # only a grader says this
_OUTDATED = "The cell with your latest `{}` stopped with an error. Fix the cell and run it again before you check."
LIMIT = 10.0  # seconds
_LATE = "Your code was still running after {:g} s. Is there a loop that never ends?"
_INTERRUPTED = "You stopped your code before it returned. Is there a loop that never ends?"


class NotSolved(AssertionError):
    """An answer that is open or wrong, raised only where errors are what is graded."""


@dataclass(frozen=True)
class Verdict:
    """``status``: "open" (still the stub), "wrong" or "solved", and of a grader also "not judged";
    ``hint``: what to look at; ``points`` earned.
    """

    exercise: str
    title: str
    status: str
    hint: str
    points: int
    of: int


def check(name: str, answer: Any) -> None:
    """Show whether ``answer`` solves the exercise called ``name``, and if it does not, a hint.

    Nothing is raised, except under nbgrader, which gives points to check cells that end without error. An answer whose
    cell has been changed since and stopped with an error is not judged: it is the one before.
    """
    exercise = get(name)
    if outdated(exercise.name, answer):
        verdict = Verdict(exercise.id, exercise.title, "wrong", _OUTDATED.format(exercise.name), 0, exercise.points)
    else:
        with under_nbgrader.no_standard_error():
            verdict = judge(exercise, answer)
    display.publish(bundle(verdict))
    if under_nbgrader.grading() and verdict.status != "solved":
        raise NotSolved(verdict.hint)


def or_solution(name: str, answer: Any) -> Any:
    """The ``answer`` if it solves the exercise called ``name``, and else the solution, which a printed line says.

    For what comes after an exercise and needs its result. Raises ``ValueError`` for an unknown exercise.
    """
    exercise = get(name)
    if not outdated(exercise.name, answer) and judge(exercise, answer).status == "solved":
        return answer
    print(f"`{exercise.name}` is not solved yet: the solution stands in for it.")
    return exercise.build(exercise.solution_source)


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """The verdict on ``answer``. Whatever the student's code raises becomes a hint that quotes it.

    Code that runs for more than ``LIMIT`` seconds is stopped, on the main thread and not on Windows.
    """
    try:
        with _limited():
            return judge_described(exercise, describe(answer), answer)
    except _Late:
        hint = _LATE.format(LIMIT)
    except KeyboardInterrupt:
        hint = _INTERRUPTED
    return Verdict(exercise.id, exercise.title, "wrong", hint, 0, exercise.points)


class _Late(BaseException):
    """The time is over. Student's code that catches every ``Exception`` does not catch this."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise ``_Late`` in the block after ``LIMIT`` seconds, where the system can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, stop)
    rest = signal.setitimer(signal.ITIMER_REAL, LIMIT, 1.0)  # again each second, if the code catches it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *rest)


def judge_described(exercise: Exercise, described: Described, answer: Any) -> Verdict:
    """The verdict on something to call that stands for an answer, which itself is as ``described``."""
    status, hint = "solved", ""
    try:
        # Standard error is kept silent: nbgrader takes it for a failure.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            empty = _empty(exercise, described)
            if empty:
                status, hint = "open", f"{empty} Write code that returns {exercise.missing}, in place of the `...`."
            else:
                _same_outside(exercise, described)
                check = exercise.check or partial(by_cases.check, exercise)
                check(answer)
    except Hint as found:
        status, hint = "wrong", str(found)
    except NotImplementedError:
        status, hint = "open", f"`{exercise.name}` is not written yet. It should return {exercise.missing}."
    except (Exception, SystemExit) as error:
        status, hint = "wrong", _quoted(error)
    points = exercise.points if status == "solved" else 0
    return Verdict(exercise.id, exercise.title, status, hint, points, exercise.points)


def bundle(verdict: Verdict) -> dict[str, Any]:
    """A verdict as data, as HTML and as text."""
    lines, data = [verdict.hint] if verdict.hint else [], {MIME: asdict(verdict)}
    return display.verdict("fedlab-exercise", _WORDS[verdict.status], verdict.title, lines, data)


def _empty(exercise: Exercise, answer: Described) -> str:
    """What is still as in the stub, in words; "" if nothing is."""
    if answer.kind == "nothing":
        return f"There is nothing called `{exercise.name}` yet."
    stub = exercise.build(exercise.stub_source)
    if not inspect.isclass(stub):
        return f"`{exercise.name}` is still empty." if answer.code == code(stub) else ""
    given = vars(exercise.solution)
    for name, method in vars(stub).items():
        to_write = inspect.isfunction(method) and code(method) != code(given[name])
        if to_write and answer.methods.get(name) == code(method):
            return f"The method `{name}` of `{exercise.name}` is still empty."
    return ""


def _same_outside(exercise: Exercise, answer: Described) -> None:
    """Raise a :class:`Hint` if the answer is of another kind than the stub, or has other arguments."""
    if inspect.isclass(exercise.solution):
        if answer.kind != "class":
            raise Hint(f"`{exercise.name}` must stay a class, and yours is of type {answer.kind}.")
        return
    if answer.kind != "function":
        raise Hint(f"`{exercise.name}` must stay a function, and yours is of type {_type_of(answer)}.")
    wanted = list(inspect.signature(exercise.solution).parameters)
    if wanted != answer.parameters:
        raise Hint(f"The first line must stay `def {exercise.name}({', '.join(wanted)}):`.")
    if answer.form == "async":
        raise Hint(
            f"`{exercise.name}` is asynchronous: a call gives a coroutine and no result. Write `def`, not `async def`."
        )
    if answer.form == "generator":
        raise Hint(f"`{exercise.name}` is a generator: a call runs none of its code. Write `return`, not `yield`.")


def _type_of(answer: Described) -> str:
    """The type of an answer that is no function, as Python calls it."""
    return "type" if answer.kind == "class" else answer.kind


def _quoted(error: BaseException) -> str:
    """The error in words, with the line of the student's code that it comes from."""
    words = f"Your code stops with {type(error).__name__}: {error}".rstrip(": ")
    line = getattr(error, "line", None)  # an error of a kernel brings it
    line = line if isinstance(line, str) else line_of(error)
    return f"{words}, in the line `{line}`." if line else f"{words}."
