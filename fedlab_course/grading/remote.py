"""The answer of a submission as a check sees it: something to call. Nothing that comes back is trusted."""

import builtins
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedlab_core.algorithms import Algorithm
from fedlab_core.server import Server
from fedlab_core.updates import LocalUpdates
from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.grading.inside import HOOKS, OTHERS
from fedlab_course.grading.plain import NotPlain, decode, encode
from fedlab_course.grading.runner import Runner

_NUMBERS = ("round", "lr", "local_momentum", "clients_per_round", "num_clients", "num_parameters", "seed", "tag")
_UPDATES = ("clients", "params", "num_steps", "num_samples", "received")
# An error of the student's code has its own type here too if it is one of these: checks may ask for it.
_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, (Exception, SystemExit)) and not name.startswith("_")
}


class OutOfTime(BaseException):
    """The time for the calls of a check is over. No check may catch it: it is no ``Exception``."""


class Answer:
    """The answer to an exercise, a function or a class, which lives in the process of ``runner``."""

    def __init__(self, exercise: Exercise, runner: Runner) -> None:
        self._runner, self.__name__ = runner, exercise.name
        self._is_class = inspect.isclass(exercise.solution)
        self.__signature__ = inspect.signature(exercise.solution)

    def __call__(self, *given: Any) -> Any:
        """Return its result. Arrays and lists that it changes in place are changed in ``given`` too."""
        result, after, _ = self.ask(given)
        for mine, theirs in zip(given, after if isinstance(after, list) else [], strict=False):
            if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
                if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                    raise Hint("Your code changes the shape or the type of an argument in place. Work on a copy of it.")
                mine[...] = theirs
            elif isinstance(mine, list) and isinstance(theirs, list):
                mine[:] = theirs
        if self._is_class and not isinstance(result, Algorithm):
            raise Hint(f"`{self.__name__}` must stay an `fl.Algorithm`.")
        return result

    def ask(self, given: Sequence[Any], of: tuple[int, str] | None = None) -> tuple[Any, Any, Any]:
        """Call the answer, or a hook ``of`` one of its algorithms.

        Return the result, the arguments after the call and the attributes that changed. Raises what the code raised.
        """
        functions: list[Callable[..., Any]] = []
        message = {"call": encode(list(given), lambda value: _to_code(value, functions)), "of": of}
        reply = self._reply(message)
        while "asked" in reply:
            reply = self._reply(_called(functions, reply))
        if "raised" in reply:
            raise _error(reply["raised"])
        try:
            if "unreadable" in reply:
                raise NotPlain(str(reply["unreadable"])[:500])
            return decode(reply["returned"], self._special), decode(reply["after"], self._special), reply["changed"]
        except (NotPlain, KeyError) as error:
            raise Hint(f"The result of your code cannot be read: {error}.") from None

    def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        reply = self._runner.ask(message)
        if self._runner.late:
            raise OutOfTime
        return reply

    def _special(self, kind: str, value: Any) -> Any:
        return self._algorithm(**value) if kind == "algorithm" else value

    def _algorithm(self, number: int, name: str, hooks: list[str], settings: dict[str, Any]) -> Algorithm:
        """Make an algorithm for a simulation in this process. Its hooks run in the other one."""
        if others := sorted(set(hooks) & set(OTHERS)):
            raise Hint(f"`{name}` also overrides {', '.join(others)}. Only {', '.join(HOOKS)} are graded.")

        def hook(which: str) -> Any:
            return lambda algorithm, *given: self._hook((number, which), algorithm, *given)

        made: Algorithm = type(name, (Algorithm,), {which: hook(which) for which in HOOKS if which in hooks})()
        vars(made).update({str(name): value for name, value in settings.items()})
        return made

    def _hook(self, of: tuple[int, str], algorithm: Algorithm, server: Any, *updates: LocalUpdates) -> Any:
        result, after, changed = self.ask([server, *updates], of)
        try:
            params, state, names = after[0]["params"], dict(after[0]["state"]), list(changed)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise Hint(f"The server after your `{of[1]}` cannot be read: {error!r}.") from None
        server.params, server.state = params, state
        for name in names:
            setattr(algorithm, str(name), object())  # the library looks for attributes that are new objects
        return result


def _to_code(value: Any, functions: list[Callable[..., Any]]) -> tuple[str, Any]:
    """Describe an argument that is not a plain value."""
    if isinstance(value, np.random.Generator):
        return "generator", value.bit_generator.state
    if isinstance(value, clinic.Patient):
        return "patient", value.name
    if isinstance(value, LocalUpdates):
        return "updates", {name: getattr(value, name) for name in _UPDATES}
    if isinstance(value, Server):
        numbers = {name: getattr(value, name) for name in _NUMBERS}
        return "server", numbers | {"params": value.params, "state": value.state}
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
