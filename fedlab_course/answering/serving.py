"""An IPython extension: the kernel answers calls of a submission's functions until it is told that this is all.

It is asked by a cell that is nothing but a comment, so that no name of the notebook plays a part in it, and none is
overwritten. What is asked for comes over a socket.
"""

import json
import socket
from dataclasses import asdict
from typing import Any

import numpy as np

from fedlab_course.answering import algorithms
from fedlab_course.answering.described import describe, line_of
from fedlab_course.answering.wire import Closed, Line, NotPlain, dump, load

MARK = "# fedlab-answer "


def load_ipython_extension(ipython: Any) -> None:
    """Answer cells that begin with ``MARK``; ``exit()`` in a cell no longer ends the kernel."""
    ipython.ask_exit = lambda: None
    ipython.events.register("pre_run_cell", lambda info: _asked(ipython, info.raw_cell))


def request(address: Any, token: str, name: str) -> str:
    """The cell that makes a kernel connect to ``address`` and answer calls of ``name``."""
    return MARK + json.dumps({"address": address, "token": token, "name": name})


def _asked(ipython: Any, cell: str) -> None:
    if not cell.startswith(MARK):
        return
    asked = json.loads(cell.removeprefix(MARK))
    answer = ipython.user_ns.get(asked["name"])
    with connected(asked["address"]) as connection:
        line = Line(connection)
        line.send({"token": asked["token"], "described": asdict(describe(answer))})
        Serving(line, answer).run()


def connected(address: Any) -> socket.socket:
    """A connection to ``address``, the path of a socket or a host and a port."""
    if not isinstance(address, str):
        return socket.create_connection(tuple(address))
    found = socket.socket(socket.AF_UNIX)
    found.connect(address)
    return found


class Serving:
    """Calls of one answer, one after another."""

    def __init__(self, line: Line, answer: Any) -> None:
        self._line, self._answer = line, answer
        self._made: list[Any] = []

    def run(self) -> None:
        """Until the other side ends it, or is gone."""
        try:
            while "end" not in (message := self._line.receive()):
                try:
                    reply = self._reply(message)
                except Closed:
                    raise
                except NotPlain as error:
                    reply = {"unreadable": str(error)}
                except BaseException as error:  # whatever the student's code raises, interruptions too
                    reply = _raised(error)
                try:
                    self._line.send(reply)
                except NotPlain as error:
                    self._line.send({"unreadable": str(error)})
        except Closed:
            return

    def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        ((kind, content),) = message.items()
        given = load(content, self._foreign)
        if kind == "call":
            result = self._answer(*given)
            after = [one if isinstance(one, (np.ndarray, list)) else None for one in given]
            return {"returned": dump(result), "arguments": dump(after)}
        if kind == "make":
            instance = self._answer(*given)
            self._made.append((instance, algorithms.Server()))
            about = algorithms.about(instance)
            return {"returned": dump(about | {"instance": len(self._made) - 1}), "arguments": None}
        instance, server = self._made[given["instance"]]
        return {"returned": dump(algorithms.run_hook(instance, server, given["hook"], given)), "arguments": None}

    def _foreign(self, content: Any) -> Any:
        """An argument that is no plain value: a function to ask back for, a generator, a patient of the clinic."""
        ((kind, value),) = content.items()
        if kind == "function":
            return lambda *given: self._ask(value, given)
        if kind == "generator":
            bits = np.random.PCG64()
            bits.state = value
            return np.random.Generator(bits)
        from fedlab_course.chapters import ch09_bug_clinic as clinic

        table, key = value
        return (clinic.HEALTHY if table == "healthy" else clinic.PATIENTS)[key]

    def _ask(self, number: int, given: tuple[Any, ...]) -> Any:
        self._line.send({"asked": number, "arguments": dump(list(given))})
        reply = self._line.receive()
        if "raised" in reply:
            raise RuntimeError(reply["raised"])
        return load(reply["returned"])


def _raised(error: BaseException) -> dict[str, Any]:
    try:
        words = str(error)[:2000]
    except Exception:
        words = ""
    return {"raised": [type(error).__name__, words, line_of(error)[:500]]}
