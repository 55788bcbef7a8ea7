"""The check of one exercise: it runs here, and calls the answer in its kernel."""

import inspect
import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_course.answering.described import Described
from fedlab_course.answering.serving import request
from fedlab_course.answering.wire import Closed, Line, NotPlain
from fedlab_course.check.base import Exercise
from fedlab_course.check.verdicts import judge_described
from fedlab_course.grading.kernel import Kernel
from fedlab_course.grading.remote import Answer, AnswerClass, Gone, OutOfTime, Remote

_TICK = 0.2


@dataclass(frozen=True)
class Finding:
    """What judging came to: ``status`` as in a row, and a ``hint``."""

    status: str
    hint: str


def judge(exercise: Exercise, kernel: Kernel, folder: Path, seconds: float) -> Finding:
    """Judge the answer that the kernel holds; ``folder``: where a socket may lie.

    Raises :class:`~fedlab_course.grading.kernel.Ended` if the kernel is lost on the way.
    """
    deadline, token = kernel.until(), secrets.token_hex(16)
    with _listening(folder) as (listener, address):
        kernel.send(request(address, token, exercise.name))
        try:
            connection = _accepted(listener, kernel, deadline)
        except TimeoutError:
            kernel.wait(deadline)
            return Finding("not judged", "The kernel does not answer calls any more.")
        with connection:
            line = Line(connection)
            try:
                found = _judged(exercise, line, token, deadline)
                line.send({"end": True}, deadline)
            except OutOfTime:
                kernel.wait(deadline)
                return Finding("wrong", f"Your code did not end within {seconds:g} s.")
            except (Gone, Closed, TimeoutError):
                kernel.wait(deadline)  # this says so if the kernel is gone
                return Finding("wrong", "Your code ended the connection over which it is called.")
    kernel.wait(deadline)
    return found


def _judged(exercise: Exercise, line: Line, token: str, deadline: float) -> Finding:
    try:
        first = line.receive(deadline)
        described = _described(first, token)
    except (NotPlain, TimeoutError) as error:
        return Finding("not judged", f"What the kernel says of the answer cannot be read: {error}.")
    remote = Remote(line, deadline)
    answer: Any = Answer(remote, exercise.name, list(inspect.signature(exercise.solution).parameters))
    if isinstance(exercise.solution, type):
        answer = AnswerClass(remote, exercise.name)
    verdict = judge_described(exercise, described, answer)
    return Finding(verdict.status, verdict.hint)


def _described(message: dict[str, Any], token: str) -> Described:
    """What an answer is said to be. To lie does not help: whatever it is, it is called and must answer rightly."""
    if message.get("token") != token or not isinstance(message.get("described"), dict):
        raise NotPlain("it is no description")
    try:
        found = Described(**message["described"])
    except TypeError:
        raise NotPlain("it is no description") from None
    words = isinstance(found.kind, str) and isinstance(found.form, str) and isinstance(found.methods, dict)
    if not (words and isinstance(found.parameters, list) and all(isinstance(one, str) for one in found.parameters)):
        raise NotPlain("it is no description")
    return found


class _listening:
    """A socket that listens, in ``folder`` or, where there are none in folders, on the loopback; and its address."""

    def __init__(self, folder: Path) -> None:
        self._path: Path | None = None
        if hasattr(socket, "AF_UNIX"):
            self._path = folder / f"a{secrets.token_hex(4)}"
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(str(self._path))
            self._path.chmod(0o666)  # in a folder that only its user may enter
            self._address: Any = str(self._path)
        else:
            self._socket = socket.socket()
            self._socket.bind(("127.0.0.1", 0))
            self._address = list(self._socket.getsockname())
        self._socket.listen(1)

    def __enter__(self) -> tuple[socket.socket, Any]:
        return self._socket, self._address

    def __exit__(self, *error: object) -> None:
        self._socket.close()
        if self._path is not None and os.path.lexists(self._path):
            self._path.unlink()


def _accepted(listener: socket.socket, kernel: Kernel, deadline: float) -> socket.socket:
    """The connection that the kernel makes.

    Raises ``TimeoutError`` if it makes none, and :class:`~fedlab_course.grading.kernel.Ended` if it is gone.
    """
    listener.settimeout(_TICK)
    while True:
        try:
            return listener.accept()[0]
        except TimeoutError:
            if not kernel.alive:
                raise kernel.ended() from None
            if kernel.replied or time.monotonic() > deadline:
                raise
