"""Judge an answer and show the verdict."""

import dis
import html
import inspect
import linecache
import traceback
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedlab_course.display import GOOD, MIXED, OPEN, box, publish
from fedlab_course.exercises import under_nbgrader
from fedlab_course.exercises.base import Exercise, Hint
from fedlab_course.exercises.latest import outdated
from fedlab_course.exercises.registry import get

MIME = "application/vnd.fedlab.exercise+json"
_LIBRARY = str(Path(__file__).resolve().parents[2])
_LOOKS = {"solved": ("✓ solved", GOOD), "wrong": ("✗ not yet", MIXED), "open": ("○ to do", OPEN)}
_OUTDATED = "The cell with your latest `{}` stopped with an error. Mend it and run it again before you check."
_LOOKS |= {"not judged": ("– not judged", OPEN), "refused": ("✗ refused", MIXED)}  # what only a grader says


class NotSolved(AssertionError):
    """An answer that is open or wrong, raised only where errors are what is graded."""


@dataclass(frozen=True)
class Verdict:
    """``status``: "open" (still the stub), "wrong" or "solved", and of a grader also "not judged" or "refused";
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
    show(verdict)
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
    """The verdict on ``answer``. Whatever the student's code raises becomes a hint that quotes it."""
    status, hint = "solved", ""
    try:
        # Standard error is kept silent: nbgrader takes it for a failure.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            empty = _empty(exercise, answer)
            if empty:
                status, hint = "open", f"{empty} Write code that returns {exercise.missing}, in place of the `...`."
            else:
                _same_outside(exercise, answer)
                exercise.check(answer)
    except Hint as found:
        status, hint = "wrong", str(found)
    except NotImplementedError:
        status, hint = "open", f"`{exercise.name}` is not written yet. It should return {exercise.missing}."
    except (Exception, SystemExit) as error:
        status, hint = "wrong", _quoted(error)
    points = exercise.points if status == "solved" else 0
    return Verdict(exercise.id, exercise.title, status, hint, points, exercise.points)


def show(verdict: Verdict, **more: Any) -> None:
    """Display a verdict as HTML, as text and, together with ``more``, as data."""
    publish(bundle(verdict) | {MIME: asdict(verdict) | more})


def bundle(verdict: Verdict) -> dict[str, Any]:
    """A verdict as data, as HTML and as text."""
    return {MIME: asdict(verdict), "text/html": _as_html(verdict), "text/plain": _as_text(verdict)}


def _empty(exercise: Exercise, answer: Any) -> str:
    """What is still as in the stub, in words; "" if nothing is."""
    if answer is None or answer is ...:
        return f"There is nothing called `{exercise.name}` yet."
    stub = exercise.build(exercise.stub_source)
    if not inspect.isclass(stub):
        return f"`{exercise.name}` is still empty." if _code(answer) == _code(stub) else ""
    given = vars(exercise.solution)
    for name, method in vars(stub).items():
        to_write = inspect.isfunction(method) and _code(method) != _code(given[name])
        if to_write and _code(vars(answer).get(name) if inspect.isclass(answer) else None) == _code(method):
            return f"The method `{name}` of `{exercise.name}` is still empty."
    return ""


def _code(function: Any) -> list[tuple[str, str]] | None:
    """What a function does, its docstring aside; None for anything else."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return [(step.opname, step.argrepr) for step in dis.get_instructions(code)]


def _same_outside(exercise: Exercise, answer: Any) -> None:
    """Raise a :class:`Hint` if the answer is of another kind than the stub, or has other arguments."""
    if inspect.isclass(exercise.solution):
        if not inspect.isclass(answer):
            raise Hint(f"`{exercise.name}` must stay a class, and yours is of type {type(answer).__name__}.")
        return
    if not inspect.isfunction(answer):
        raise Hint(f"`{exercise.name}` must stay a function, and yours is of type {type(answer).__name__}.")
    wanted, found = (list(inspect.signature(each).parameters) for each in (exercise.solution, answer))
    if wanted != found:
        raise Hint(f"The first line must stay `def {exercise.name}({', '.join(wanted)}):`.")


def _quoted(error: BaseException) -> str:
    """The error in words, with the line of the student's code that it comes from."""
    words = f"Your code stops with {type(error).__name__}: {error}".rstrip(": ")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_LIBRARY) and "site-packages" not in frame.filename:
            line = linecache.getline(frame.filename, frame.lineno or 0).strip()
            return f"{words}, in the line `{line}`." if line else f"{words}."
    return f"{words}."


def _as_text(verdict: Verdict) -> str:
    words, _ = _LOOKS[verdict.status]
    stop = "" if verdict.title.endswith(("?", "!", ".")) else "."
    return f"{words}: {verdict.title}" + (f"{stop} {verdict.hint}" if verdict.hint else "")


def _as_html(verdict: Verdict) -> str:
    words, colour = _LOOKS[verdict.status]
    pieces = html.escape(verdict.hint).split("`")
    hint = "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
    return box("fedlab-exercise", colour, words, verdict.title, f"<div>{hint}</div>" if hint else "")
