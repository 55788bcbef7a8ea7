"""Exercises of the course: an answer is judged, and the verdict is shown with a hint.

A notebook says ``exercises.check("02-prox-step", prox_step)``. The verdict is shown in words, and
nothing is raised, so that a notebook runs from top to bottom unsolved. Only under nbgrader, which
grades by errors, a wrong answer raises.

``CONTRIBUTING.md`` shows how to write an exercise. A hint says what the answer does and asks what
to look at. Results of another form, errors in the student's code and a changed first line get hints
of their own, and need no ``Mistake``.
"""

import contextlib
import inspect
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from fedlab_core.language import translator
from fedlab_course import display
from fedlab_course.check import by_cases, own
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.check.described import (
    Described,
    call_global,
    code,
    describe,
    describe_global,
    line_of,
    outdated,
)
from fedlab_course.check.registry import get
from fedlab_course.check.tools import run_with

_ = translator(__name__)

MIME = "application/vnd.fedlab.exercise+json"
# looked up now: an answer may remove the variable later
UNDER_NBGRADER = "NBGRADER_EXECUTION" in os.environ
LIMIT = 10.0  # seconds
_WORDS = {
    "solved": _("✓ solved"),
    "wrong": _("✗ not yet"),
    "open": _("○ to do"),
    "not judged": _("– not judged"),
}


class NotSolved(AssertionError):
    """An answer that is open or wrong, raised only where errors are what is graded."""


@dataclass(frozen=True)
class Verdict:
    """``status``: "open" (still the stub), "wrong", "solved" or, only of the grader, "not judged".

    ``hint``: what the student should look at; ``of``: the points of a solved exercise; ``remark``:
    for the instructor; ``is_crash``: whether the answer is wrong because its code stopped with an
    error, or did not end.
    """

    exercise: str
    title: str
    status: str
    hint: str
    of: int
    remark: str = ""
    is_crash: bool = False

    @property
    def points(self) -> int:
        """The points earned: all or none."""
        return self.of if self.status == "solved" else 0


def check(name: str, answer: Any) -> None:
    """Show whether ``answer`` solves the exercise called ``name``, and if it does not, a hint.

    Nothing is raised, except under nbgrader, which gives points to check cells that end without
    error.
    """
    exercise = get(name)
    with contextlib.redirect_stderr(sys.stdout):  # nbgrader takes standard error for a failure
        verdict = judge(exercise, answer)
    display.publish(bundle(verdict))
    if UNDER_NBGRADER and verdict.status != "solved":
        raise NotSolved(verdict.hint)


def or_solution(name: str, answer: Any) -> Any:
    """The ``answer`` if it solves the exercise called ``name``, and else the solution, which a
    line in the output says.

    For what comes after an exercise and needs its result. The solution is marked: a figure says
    whose code it runs on, with :func:`fedlab_course.check.own.whose`. Raises ``ValueError`` for an
    unknown exercise.
    """
    exercise = get(name)
    if judge(exercise, answer).status == "solved":
        return answer
    missing = _("`{name}` is not solved yet. What follows runs with the course's solution.")
    display.publish(display.remark(missing.format(name=exercise.name)))
    return own.mark(exercise.build(exercise.solution_source))


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """The verdict on ``answer``. Whatever the student's code raises becomes a hint that quotes it.

    An answer whose cell has been changed since and stopped with an error is not judged: it is the
    one before. Code that runs for more than ``LIMIT`` seconds is stopped, on the main thread and
    not on Windows.
    """
    try:
        if not outdated(exercise.name, answer):
            with _limited():
                return judge_described(exercise, describe(answer), answer)
        hint = _(
            "The cell with your latest `{name}` stopped with an error. Fix the cell and run it "
            "again before you check."
        ).format(name=exercise.name)
    except _Late:
        late = _("Your code was still running after {limit} s. Is there a loop that never ends?")
        hint = late.format(limit=f"{LIMIT:g}")
    except KeyboardInterrupt:
        hint = _("You stopped your code before it returned. Is there a loop that never ends?")
    return Verdict(exercise.id, exercise.said(exercise.title), "wrong", hint, exercise.points)


class _Late(BaseException):
    """The time is over. Student's code that catches every ``Exception`` does not catch this."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise ``_Late`` in the block after ``LIMIT`` seconds, where the system can."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, stop)
    # again each second, if the code catches it
    rest = signal.setitimer(signal.ITIMER_REAL, LIMIT, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *rest)


def judge_described(exercise: Exercise, described: Described, answer: Any) -> Verdict:
    """The verdict on something to call that stands for an answer, which itself is as
    ``described``.
    """
    status = "solved"
    hint = ""
    is_crash = False
    is_stub = False
    try:
        # Standard error is kept silent: nbgrader takes it for a failure.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            empty = _empty(exercise, described)
            if empty:
                status = "open"
                is_stub = True
                hint = display.sentences(empty, _to_be_written(exercise))
            else:
                _same_outside(exercise, described)
                check = exercise.check or partial(by_cases.check, exercise)
                check(answer)
    except Hint as found:
        status = "wrong"
        hint = str(found)
    except NotImplementedError:
        status = "open"
        hint = _not_written(exercise)
    except (Exception, SystemExit) as error:
        status = "wrong"
        hint = _quoted(error)
        is_crash = True
    unsolved = "" if status == "solved" or is_stub else _unsolved_helper(exercise, answer)
    if unsolved:
        status = "wrong"
        hint = unsolved
        is_crash = False
    return Verdict(
        exercise.id, exercise.said(exercise.title), status, hint, exercise.points, is_crash=is_crash
    )


def _to_be_written(exercise: Exercise) -> str:
    """What the student should write in place of the dots."""
    if exercise.instead:
        return exercise.said(exercise.instead)
    asked = (
        _("Write code that yields {missing}, in place of the `...`.")
        if _is_generator(exercise)
        else _("Write code that returns {missing}, in place of the `...`.")
    )
    return asked.format(missing=exercise.said(exercise.missing))


def _not_written(exercise: Exercise) -> str:
    """What to say of code that raises ``NotImplementedError``."""
    if exercise.instead:
        said = _("`{name}` is not written yet.").format(name=exercise.name)
        return display.sentences(said, exercise.said(exercise.instead))
    said = (
        _("`{name}` is not written yet. It should yield {missing}.")
        if _is_generator(exercise)
        else _("`{name}` is not written yet. It should return {missing}.")
    )
    return said.format(name=exercise.name, missing=exercise.said(exercise.missing))


def _unsolved_helper(exercise: Exercise, answer: Any) -> str:
    """Name the first function that the answer builds on and that is not solved; "" if none is."""
    for name in exercise.uses:
        helper = get(name)
        try:
            described = Described(**run_with(answer, describe_global, helper.name))
        except (Exception, SystemExit):  # no function: it is told so already
            return ""
        function: Any = partial(run_with, answer, call_global, helper.name)
        function.__signature__ = inspect.signature(helper.solution)
        verdict = judge_described(helper, described, function)
        if verdict.status != "solved":
            begins = _("`{name}` builds on `{helper}`, which is not solved yet.")
            said = begins.format(name=exercise.name, helper=helper.name)
            return display.sentences(said, verdict.hint)
    return ""


def bundle(verdict: Verdict) -> dict[str, Any]:
    """A verdict as data, as HTML and as text."""
    lines = [verdict.hint] if verdict.hint else []
    data = {MIME: asdict(verdict) | {"points": verdict.points}}
    return display.verdict("fedlab-exercise", _WORDS[verdict.status], verdict.title, lines, data)


def _empty(exercise: Exercise, answer: Described) -> str:
    """What is still as in the stub, in words; "" if nothing is."""
    if answer.kind == "nothing":
        return _("There is nothing called `{name}` yet.").format(name=exercise.name)
    stub = exercise.build(exercise.stub_source)
    if not inspect.isclass(stub):
        empty = _("`{name}` is still empty.").format(name=exercise.name)
        return empty if answer.code == code(stub) else ""
    if exercise.is_open and answer.methods != describe(stub).methods:
        return ""
    for name in _to_write(exercise):
        if answer.methods.get(name) == code(vars(stub)[name]):
            empty = _("The method `{method}` of `{name}` is still empty.")
            return empty.format(method=name, name=exercise.name)
    return ""


def _to_write(exercise: Exercise) -> dict[str, Any]:
    """The methods of the solution that are not as in the stub, by name. A function has none."""
    stub = exercise.build(exercise.stub_source)
    if not inspect.isclass(stub):
        return {}
    given = vars(exercise.build(exercise.solution_source))  # compiled as the stub is
    return {
        name: given[name]
        for name, method in vars(stub).items()
        if inspect.isfunction(method) and code(method) != code(given[name])
    }


def _is_generator(exercise: Exercise) -> bool:
    """Whether each method that the student writes is a generator, such as ``cohorts``."""
    methods = _to_write(exercise).values()
    return bool(methods) and all(map(inspect.isgeneratorfunction, methods))


def _same_outside(exercise: Exercise, answer: Described) -> None:
    """Raise a :class:`Hint` if the answer is of another kind
    than the stub, or has other arguments.
    """
    kind = "class" if inspect.isclass(exercise.solution) else "function"
    if answer.kind != kind:
        kept = (
            _("`{name}` must stay a class, and yours is of type {type}.")
            if kind == "class"
            else _("`{name}` must stay a function, and yours is of type {type}.")
        )
        raise Hint(kept.format(name=exercise.name, type=answer.kind))
    if kind == "class":
        return
    wanted = list(inspect.signature(exercise.solution).parameters)
    if wanted != answer.parameters:
        first = f"def {exercise.name}({', '.join(wanted)}):"
        raise Hint(_("The first line must stay `{line}`.").format(line=first))
    if answer.form == "async":
        said = _(
            "`{name}` is asynchronous: a call gives a coroutine and no result. Write `def`, not "
            "`async def`."
        )
        raise Hint(said.format(name=exercise.name))
    if answer.form == "generator":
        said = _(
            "`{name}` is a generator: a call runs none of its code. Write `return`, not `yield`."
        )
        raise Hint(said.format(name=exercise.name))


def _quoted(error: BaseException) -> str:
    """The error in words, with the line of the student's code that it comes from."""
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    # an error in the process of a submission brings its line
    line = getattr(error, "line", "") or line_of(error)
    if line:
        return _("Your code stops with {error}, in the line `{line}`.").format(
            error=words, line=line
        )
    return _("Your code stops with {error}.").format(error=words)
