"""The worker process as the judge uses it: start it, send it requests, kill it (``worker.py`` is
the code in it). No reply is trusted.
"""

import builtins
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np

from fedlab_course import processes
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.grading import workspace
from fedlab_course.grading.plain import MAX_BYTES, NotPlain, decode, encode

GRACE = 10.0  # seconds for the process to go on after its copy was killed


class Ended(BaseException):
    """The process is gone. The message says what the code did. No check may catch it: it is no
    ``Exception``.
    """


class CopyEnded(Ended):
    """Only the copy of the process is gone, in which an answer was called."""


class WorkerProcess:
    """A process that runs the code of a submission in the workspace ``folder``, as ``user`` if that
    is not None.
    """

    def __init__(self, folder: Path, user: int | None) -> None:
        self._late = 0.0  # the limit in seconds that was exceeded, or 0
        self._in_copy = False
        identity: dict[str, Any] = {}
        if user is not None:
            identity = {"user": user, "group": user, "extra_groups": []}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fedlab_course.grading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder / "work",
            env=workspace.environment(folder),
            start_new_session=True,
            **identity,
        )

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Kill the process, or its copy, if the block does not end within ``seconds``."""
        timers: list[Timer] = []

        def start(after: float, action: Callable[[], None]) -> None:
            timers.append(Timer(after, action))
            timers[-1].start()

        def stop() -> None:
            self._late = seconds
            if self._in_copy:
                start(GRACE, self.kill)
                self._kill_copy()
            else:
                self.kill()

        start(seconds, stop)
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()

    @contextmanager
    def copy(self) -> Iterator[None]:
        """Let a copy of the process serve in the block, where the system allows it.

        Raises :class:`CopyEnded` if the copy ends in the block, and :class:`Ended` if the process
        itself does.
        """
        self._in_copy = bool(self.ask({"copy": True}).get("copied"))
        try:
            yield
            if self._in_copy:
                self._exchange({"copy": False})
        finally:
            self._in_copy = False

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the reply. Raises :class:`Ended` if there is none, or one that
        cannot be read.
        """
        reply = self._exchange(message)
        if self._in_copy and "ended" in reply:
            late = self._late
            self._late = 0.0
            raise CopyEnded(_end(late))
        return reply

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        reply = None
        line = b""
        with suppress(OSError, ValueError, RecursionError, MemoryError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline(MAX_BYTES + 1)
            reply = json.loads(line)
        if isinstance(reply, dict):
            return reply
        self.kill()
        if line and not self._late:
            raise Ended("wrote to the line over which it is called")
        raise Ended(_end(self._late))

    def _kill_copy(self) -> None:
        """End everything below the judge but the process itself."""
        processes.end(process for process in processes.below() if process.pid != self._process.pid)

    def kill(self) -> None:
        """End the process and everything that it has started: whatever is below the judge."""
        processes.end(processes.below())
        self._process.wait()


def _end(late: float) -> str:
    """Say how the code ended its process. ``late``: the limit in seconds that it exceeded, or 0."""
    if late:
        return f"did not end within {late:g} s"
    return "ended its process: Python stopped, or used too much memory or too many processes"


class RemoteAnswer:
    """The answer to an exercise as its check sees it: a callable that runs in the process
    ``worker``.
    """

    def __init__(self, exercise: Exercise, worker: WorkerProcess) -> None:
        self._worker = worker
        self.__name__ = exercise.name
        self.__signature__ = inspect.signature(exercise.solution)

    def __call__(self, *given: Any) -> Any:
        """Return its result. Arrays and lists that it changes in place are changed in ``given``
        too.
        """
        result, changed = self._call(given)
        if isinstance(changed, list):
            for argument, after in zip(given, changed, strict=False):
                _change_in_place(argument, after)
        return result

    def run_with(self, function: Callable[..., Any], *given: Any) -> Any:
        """Return ``function(answer, *given)``, computed in the process of the answer."""
        return self._call(given, (function.__module__, function.__name__))[0]

    def _call(
        self, given: Sequence[Any], function: tuple[str, str] | None = None
    ) -> tuple[Any, Any]:
        """Return the result, and the arguments after the call. Raises what the code of the
        submission raises.
        """
        functions: list[Callable[..., Any]] = []
        call = encode(list(given), lambda value: _special(value, functions))
        reply = self._worker.ask({"call": call, "function": function})
        while "asked" in reply:
            reply = self._worker.ask(_called(functions, reply))
        if "raised" in reply:
            raise _error(reply["raised"])
        try:
            if "unreadable" in reply:
                raise NotPlain(str(reply["unreadable"])[:500])
            return decode(reply["returned"]), decode(reply["after"])
        except (NotPlain, KeyError) as error:
            raise Hint(f"The result of your code cannot be read: {error}.") from None


def _change_in_place(argument: Any, after: Any) -> None:
    """Give an argument the values that it has after the call, if both are arrays or both lists."""
    if isinstance(argument, np.ndarray) and isinstance(after, np.ndarray):
        if (argument.shape, argument.dtype) != (after.shape, after.dtype):
            raise Hint(
                "Your code changes the shape or the type of an argument in place. Work on a copy "
                "of it."
            )
        argument[...] = after
    elif isinstance(argument, list) and isinstance(after, list):
        argument[:] = after


def _special(value: Any, functions: list[Callable[..., Any]]) -> tuple[str, Any]:
    """Describe an argument that is not a plain value."""
    if isinstance(value, np.random.Generator):
        return "generator", value.bit_generator.state
    if isinstance(value, clinic.Patient):
        names = [patient.name for patient in clinic.EVERYBODY]
        return "patient", names.index(value.name)
    functions.append(value)
    return "function", len(functions) - 1


def _called(functions: Sequence[Callable[..., Any]], reply: dict[str, Any]) -> dict[str, Any]:
    """Call a function of the check for the submission."""
    try:
        return {"returned": encode(functions[reply["asked"]](*decode(reply.get("arguments"))))}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def _error(raised: Any) -> BaseException:
    """Return the error of the student's code, with its ``line``. If it is a built-in one, it has
    its own type.
    """
    name, words, line = map(str, raised)
    base = getattr(builtins, name, None)
    if not (inspect.isclass(base) and issubclass(base, (Exception, SystemExit))):
        base = Exception
    kind: Any = type(name, (base,), {"__str__": lambda error: words})
    error: BaseException = kind.__new__(kind)
    error.line = line  # type: ignore[attr-defined]
    return error
