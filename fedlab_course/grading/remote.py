"""The answer of a submission as a check sees it: something to call. Nothing that comes back is trusted."""

import builtins
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.grading.plain import NotPlain, decode, encode
from fedlab_course.grading.runner import Runner

# An error of the student's code has its own type here too if it is one of these: checks may ask for it.
_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, (Exception, SystemExit)) and not name.startswith("_")
}


class OutOfTime(BaseException):
    """The time for the calls of a check is over. No check may catch it: it is no ``Exception``."""


class Answer:
    """The answer to an exercise, a function or a class, which is in the process of ``runner``."""

    def __init__(self, exercise: Exercise, runner: Runner) -> None:
        self._runner, self.__name__ = runner, exercise.name
        self.__signature__ = inspect.signature(exercise.solution)

    def __call__(self, *given: Any) -> Any:
        """Return its result. Arrays and lists that it changes in place are changed in ``given`` too."""
        result, after = self._call(given)
        for mine, theirs in zip(given, after if isinstance(after, list) else [], strict=False):
            if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
                if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                    raise Hint("Your code changes the shape or the type of an argument in place. Work on a copy of it.")
                mine[...] = theirs
            elif isinstance(mine, list) and isinstance(theirs, list):
                mine[:] = theirs
        return result

    def beside(self, function: Callable[..., Any], *given: Any) -> Any:
        """Return ``function(answer, *given)``, computed in the process of the answer."""
        return self._call(given, (function.__module__, function.__name__))[0]

    def _call(self, given: Sequence[Any], beside: tuple[str, str] | None = None) -> tuple[Any, Any]:
        """Return the result, and the arguments after the call. Raises what the code of the submission raises."""
        functions: list[Callable[..., Any]] = []
        call = encode(list(given), lambda value: _special(value, functions))
        reply = self._ask({"call": call, "beside": beside})
        while "asked" in reply:
            reply = self._ask(_called(functions, reply))
        if "raised" in reply:
            raise _error(reply["raised"])
        try:
            if "unreadable" in reply:
                raise NotPlain(str(reply["unreadable"])[:500])
            return decode(reply["returned"]), decode(reply["after"])
        except (NotPlain, KeyError) as error:
            raise Hint(f"The result of your code cannot be read: {error}.") from None

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        reply = self._runner.ask(message)
        if self._runner.late:
            raise OutOfTime
        return reply


def _special(value: Any, functions: list[Callable[..., Any]]) -> tuple[str, Any]:
    """Describe an argument that is not a plain value."""
    if isinstance(value, np.random.Generator):
        return "generator", value.bit_generator.state
    if isinstance(value, clinic.Patient):
        return "patient", value.name
    if inspect.isroutine(value):
        functions.append(value)
        return "function", len(functions) - 1
    raise TypeError(f"a check passes a {type(value).__name__} to an answer: allowed are plain values and functions")


def _called(functions: Sequence[Callable[..., Any]], reply: dict[str, Any]) -> dict[str, Any]:
    """Call a function of the check for the submission."""
    try:
        return {"returned": encode(functions[reply["asked"]](*decode(reply.get("arguments"))))}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def _error(raised: Any) -> BaseException:
    """Return the error of the student's code, as an error of the same type if that is a built-in one."""
    if not (isinstance(raised, list) and len(raised) == 3 and all(isinstance(part, str) for part in raised)):
        raised = ["Exception", "", ""]
    name, words, line = raised
    base = _ERRORS.get(name, Exception)
    kind: Any = type(name if name.isidentifier() else "Exception", (base,), {"__str__": lambda error: words})
    error: BaseException = kind.__new__(kind)
    error.line = line  # type: ignore[attr-defined]
    return error
