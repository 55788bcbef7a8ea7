"""The process of a submission: it runs cells, describes answers and calls them. It judges nothing.

``python -m fedlab_course.grading.inside``. Requests and replies are lines of JSON on its standard input and output,
which the code of the submission does not see.
"""

import copy
import json
import os
import signal
import sys
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fedlab_course.check.described import describe, line_of
from fedlab_course.grading.plain import MAX_BYTES, NotPlain, decode, encode

HOOKS = ("setup", "aggregate", "after_aggregation")  # of an algorithm: only these are called
OTHERS = ("check", "cohorts", "correction", "upload", "client_params", "communication", "describe")


class Server:
    """The server as the hooks of one algorithm see it: ``params``, ``state``, and numbers such as ``round``."""


class Serving:
    """Requests, one after another, for the names of one IPython ``shell``."""

    def __init__(self, shell: Any, requests: Any, replies: Any) -> None:
        self._shell, self._requests, self._replies = shell, requests, replies
        self._answer: Any = None
        self._made: list[tuple[Any, Server]] = []  # the algorithms, each with its server
        self._current = 0

    def run(self) -> None:
        """Serve until the judge closes the line."""
        for line in self._requests:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                reply = self._reply(json.loads(line))
            except NotPlain as error:
                reply = {"unreadable": str(error)}
            except BaseException as error:  # whatever the code of the submission raises, interruptions too
                reply = _raised(error)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption that is late must not end this loop
            self._send(reply)

    def _send(self, reply: dict[str, Any]) -> None:
        text = json.dumps(reply).encode()
        if len(text) > MAX_BYTES:
            text = json.dumps({"unreadable": f"it has {len(text) / 2**20:.0f} MB"}).encode()
        self._replies.write(text + b"\n")
        self._replies.flush()

    def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        if "cell" in message:
            result = self._shell.run_cell(message["cell"], store_history=True)
            error = result.error_before_exec or result.error_in_exec
            return {"error": "" if error is None else ": ".join(_raised(error)["raised"][:2])}
        if "answer" in message:
            self._answer = self._shell.user_ns.get(message["answer"])
            return asdict(describe(self._answer))
        return self._call(message["call"], message["of"])

    def _call(self, arguments: Any, of: tuple[int, str] | None) -> dict[str, Any]:
        """Call the answer, or a hook ``of`` an algorithm; return its result and what it did to the arguments."""
        answer, before = self._answer, {}
        if of is not None:
            self._current = of[0]
            instance, _ = self._made[of[0]]
            answer, before = getattr(instance, of[1]), dict(vars(instance))
        given = decode(arguments, self._from_judge)
        result = answer(*given)
        after = [one if isinstance(one, (np.ndarray, list, Server)) else None for one in given]
        now = {} if of is None else vars(instance)
        changed = [name for name in now if name not in before or before[name] is not now[name]]
        return {"returned": encode(result, self._to_judge), "after": encode(after, self._to_judge), "changed": changed}

    def _from_judge(self, kind: str, value: Any) -> Any:
        """Make an argument that is not a plain value."""
        if kind == "function":
            return lambda *given: self._ask(value, given)
        if kind == "generator":
            bits = np.random.PCG64()
            bits.state = value
            return np.random.Generator(bits)
        if kind == "server":
            _, server = self._made[self._current]
            vars(server).update(value)
            return server
        if kind == "updates":
            from fedlab_core.updates import LocalUpdates

            return LocalUpdates(**value)
        from fedlab_course.chapters import ch09_bug_clinic as clinic

        patients = {patient.name: patient for patient in (*clinic.HEALTHY.values(), *clinic.PATIENTS.values())}
        return replace(copy.deepcopy(patients[value]), name="a patient")  # neither name nor identity gives it away

    def _to_judge(self, value: Any) -> tuple[str, Any] | None:
        """Describe a result that is not a plain value, if the judge can use it."""
        from fedlab_core.algorithms import Algorithm

        if isinstance(value, Server):
            return "server", {name: getattr(value, name) for name in ("params", "state")}
        if not isinstance(value, Algorithm):
            return None
        self._made.append((value, Server()))
        kind = type(value)
        hooks = [name for name in (*HOOKS, *OTHERS) if getattr(kind, name) is not getattr(Algorithm, name)]
        settings = {name: one for name, one in vars(value).items() if isinstance(one, (bool, int, float, str))}
        return "algorithm", {"number": len(self._made) - 1, "name": kind.__name__, "hooks": hooks, "settings": settings}

    def _ask(self, number: int, given: tuple[Any, ...]) -> Any:
        """Call a function of the judge."""
        self._send({"asked": number, "arguments": encode(list(given))})
        reply = json.loads(self._requests.readline())
        if "raised" in reply:
            raise RuntimeError(reply["raised"])
        return decode(reply["returned"])


def _raised(error: BaseException) -> dict[str, Any]:
    try:
        words = str(error)[:2000]
    except Exception:
        words = ""
    return {"raised": [type(error).__name__, words, line_of(error)[:500]]}


def main() -> None:
    """Take standard input and output for the judge, and serve."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    from IPython.core.interactiveshell import InteractiveShell

    sys.path.append(os.getcwd())  # last: a file beside the notebook must not replace a library
    shell: Any = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.ask_exit = shell.showtraceback = shell.showsyntaxerror = lambda *arguments, **more: None
    Serving(shell, requests, replies).run()


if __name__ == "__main__":
    main()
