"""An answer that lives in a kernel, as checks see it: something to call. Nothing that comes back is believed."""

import builtins
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from fedlab_core.algorithms import Algorithm
from fedlab_course.answering import algorithms
from fedlab_course.answering.wire import Closed, Line, NotPlain, dump, load
from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.check.base import Hint

# What the student's code raises keeps its type if it is one of these, for checks that ask for it.
_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, (Exception, SystemExit)) and not name.startswith("_")
}


class Stopped(BaseException):
    """Judging cannot go on. No check may catch it, so it is no ``Exception``."""


class OutOfTime(Stopped):
    """The time for all calls of a check is over."""


class Gone(Stopped):
    """The kernel does not answer any more."""


class Remote:
    """Calls over a :class:`~fedlab_course.answering.wire.Line`, all of them before ``deadline``."""

    def __init__(self, line: Line, deadline: float) -> None:
        self._line, self._deadline = line, deadline

    def ask(self, kind: str, given: Any) -> tuple[Any, Any]:
        """Ask for something; returns the result and the arguments as they are now. Raises what was raised there."""
        functions: list[Any] = []
        try:
            self._send({kind: dump(given, lambda value: _foreign(value, functions))})
            while "asked" in (message := self._receive()):
                self._send(_called(functions, message))
            if "unreadable" in message:
                raise NotPlain(str(message["unreadable"])[:500])
            if "raised" not in message:
                return load(message["returned"]), load(message["arguments"])
            raised = _error(message["raised"])
        except (NotPlain, KeyError) as error:
            raise Hint(f"What your code returns cannot be read: {error}.") from None
        raise raised

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._line.send(message, self._deadline)
        except TimeoutError:
            raise OutOfTime from None
        except Closed:
            raise Gone from None

    def _receive(self) -> dict[str, Any]:
        try:
            return self._line.receive(self._deadline)
        except TimeoutError:
            raise OutOfTime from None
        except Closed:
            raise Gone from None


def _foreign(value: Any, functions: list[Any]) -> Any:
    """What stands for an argument that is no plain value, or None."""
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if isinstance(value, clinic.Patient):
        for table, patients in (("healthy", clinic.HEALTHY), ("sick", clinic.PATIENTS)):
            for key, patient in patients.items():
                if patient is value or patient.name == value.name:
                    return {"patient": [table, key]}
    if inspect.isroutine(value):
        functions.append(value)
        return {"function": len(functions) - 1}
    raise TypeError(f"a check hands over a {type(value).__name__}, which cannot cross over")


def _called(functions: Sequence[Any], message: dict[str, Any]) -> dict[str, Any]:
    """The reply to a submission that calls a function which it was given."""
    try:
        given = load(message.get("arguments"))
        return {"returned": dump(functions[message["asked"]](*given))}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def _error(raised: Any) -> BaseException:
    """The error that the student's code stopped with, as an object of the same type if it is a builtin one."""
    if not (isinstance(raised, list) and len(raised) == 3 and all(isinstance(part, str) for part in raised)):
        raise NotPlain("it is no error")
    name, words, line = raised
    called = name if name.isidentifier() and len(name) < 80 else "Exception"
    kind: Any = type(called, (_ERRORS.get(name, Exception),), {"__str__": lambda error: words})
    found = kind.__new__(kind)
    found.line = line
    return found


class Answer:
    """A function of the submission. ``parameters``: what it takes, as it was asked to."""

    def __init__(self, remote: Remote, name: str, parameters: Sequence[str]) -> None:
        self._remote, self.__name__ = remote, name
        kinds = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
        self.__signature__ = inspect.Signature(kinds)

    def __call__(self, *given: Any) -> Any:
        """What it returns. Arrays and lists that it changes in place are changed in ``given`` too."""
        result, after = self._remote.ask("call", list(given))
        for mine, theirs in zip(given, after if isinstance(after, list) else [], strict=False):
            if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
                if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                    raise Hint("Your code changes the shape or the type of an argument in place: work on a copy of it.")
                mine[...] = theirs
            elif isinstance(mine, list) and isinstance(theirs, list):
                mine[:] = theirs
        return result


class AnswerClass:
    """A class of the submission that must be an algorithm: its instances run in simulations on this side."""

    def __init__(self, remote: Remote, name: str) -> None:
        self._remote, self.__name__ = remote, name

    def __call__(self, *given: Any) -> Any:
        about, _ = self._remote.ask("make", list(given))
        try:
            if about["algorithm"] is not True:
                raise Hint(f"`{self.__name__}` must stay an `fl.Algorithm`.")
            others = set(about["hooks"]) & set(algorithms.OTHERS)
            if others:
                raise Hint(
                    f"`{self.__name__}` overrides {', '.join(sorted(others))} too. Grading asks for "
                    f"{', '.join(algorithms.HOOKS)} alone."
                )
            made = _algorithm(self.__name__, self._remote, about["instance"], set(about["hooks"]))
            vars(made).update({str(name): value for name, value in about["attributes"].items()})
        except (TypeError, KeyError, AttributeError) as error:
            raise Hint(f"What your class makes cannot be read: {error!r}.") from None
        return made


def _algorithm(name: str, remote: Remote, number: int, hooks: set[str]) -> Any:
    """An algorithm whose hooks run in the kernel, and its simulation here."""

    def hook(which: str) -> Any:
        def run(self: Algorithm, server: Any, updates: Any = None) -> Any:
            return _run(remote, number, which, self, server, updates)

        return run

    return type(name, (Algorithm,), {which: hook(which) for which in algorithms.HOOKS if which in hooks})()


def _run(remote: Remote, number: int, hook: str, algorithm: Any, server: Any, updates: Any) -> Any:
    numbers = {name: getattr(server, name) for name in algorithms.FIELDS}
    sent = None if updates is None else {name: getattr(updates, name) for name in _UPDATES}
    given = {"instance": number, "hook": hook, "params": server.params, "state": server.state}
    found, _ = remote.ask("hook", given | {"numbers": numbers, "updates": sent})
    try:
        result, state, changed = found["result"], found["state"], found["changed"]
        if not isinstance(state, dict) or not isinstance(changed, list):
            raise TypeError("state")
        server.params = found["params"]
    except (TypeError, KeyError) as error:
        raise Hint(f"What your `{hook}` leaves behind cannot be read: {error!r}.") from None
    server.state = state
    for name in changed:
        setattr(algorithm, str(name), object())  # another one than before: that is what the library looks for
    return result


_UPDATES = ("clients", "params", "num_steps", "num_samples", "received")
