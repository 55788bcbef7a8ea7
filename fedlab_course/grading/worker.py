"""The worker process: it runs the cells of a submission, and describes and calls the answers. It
judges nothing.

Requests and replies are lines of JSON on standard input and output, which the code of the
submission does not see. An answer is called in a copy of the process where the system allows it: if
the copy ends or must be killed, nothing else is lost.
"""

import copy
import importlib
import json
import os
import sys
import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fedlab_course.check.described import describe, line_of
from fedlab_course.grading.plain import MAX_BYTES, NotPlain, decode, encode

_USED = (  # by most notebooks: their import takes seconds, which are not the submission's
    "torch",
    "fedlab_core",
    "fedlab_course.explore.explorer",
    "fedlab_course.evidence.figures",
    "fedlab_course.playground",
)


class Worker:
    """Serve the requests of the judge, one after another, in one IPython ``shell``."""

    def __init__(self, shell: Any, requests: Any, replies: Any) -> None:
        self._shell = shell
        self._requests = requests
        self._replies = replies
        self._answer: Any = None

    def run(self) -> None:
        """Serve until the judge closes the line."""
        for line in self._requests:
            message = json.loads(line)
            if "copy" in message:
                self._send(self._serve_in_a_copy() if message["copy"] else self._end_of_a_copy())
                continue
            try:
                reply = self._reply(message)
            except NotPlain as error:
                reply = {"unreadable": str(error)}
            except BaseException as error:  # whatever the code of the submission raises
                reply = {"raised": _words(error)}
            self._send(reply)

    def _serve_in_a_copy(self) -> dict[str, Any]:
        """Let a copy of this process serve from here. This one returns when the copy is gone.

        Return the reply: of the copy, that it serves; of this process, that the copy has ended.
        """
        if not _may_fork():
            return {"copied": False}
        with warnings.catch_warnings():  # of Python 3.12: other threads are not copied
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            _use_one_thread()
            return {"copied": True}
        os.waitpid(child, 0)
        return {"ended": True}

    def _end_of_a_copy(self) -> dict[str, Any]:
        os._exit(0)

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
            return {"error": "" if error is None else ": ".join(_words(error)[:2])}
        if "answer" in message:
            self._answer = self._shell.user_ns.get(message["answer"])
            return asdict(describe(self._answer))
        given = decode(message["call"], self._argument)
        if message["function"] is None:
            result = self._answer(*given)
        else:
            module, name = message["function"]
            result = getattr(importlib.import_module(module), name)(self._answer, *given)
        after = [
            argument if isinstance(argument, (np.ndarray, list)) else None for argument in given
        ]
        return {"returned": encode(result), "after": encode(after)}

    def _argument(self, kind: str, value: Any) -> Any:
        """Make an argument that is not a plain value."""
        if kind == "function":
            return lambda *given: self._ask(value, given)
        if kind == "generator":
            bits = np.random.PCG64()
            bits.state = value
            return np.random.Generator(bits)
        from fedlab_course.chapters import ch07_bug_clinic as clinic

        # neither name nor identity gives it away
        return replace(copy.deepcopy(clinic.EVERYBODY[value]), name="a patient")

    def _ask(self, number: int, given: tuple[Any, ...]) -> Any:
        """Call a function of the judge."""
        self._send({"asked": number, "arguments": encode(list(given))})
        reply = json.loads(self._requests.readline())
        if "raised" in reply:
            raise RuntimeError(reply["raised"])
        return decode(reply["returned"])


def _may_fork() -> bool:
    """Whether a copy of this process can compute: PyTorch does
    not allow it beside an accelerator.
    """
    torch = sys.modules.get("torch")
    return sys.platform == "linux" and (torch is None or not torch.accelerator.is_available())


def _use_one_thread() -> None:
    """Keep the libraries from waiting for threads that this copy of a process does not have."""
    import threadpoolctl

    threadpoolctl.threadpool_limits(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _words(error: BaseException) -> list[str]:
    """Return the type of an error, what it says, and the line that it comes from."""
    try:
        words = str(error)[:2000]
    except Exception:
        words = ""
    return [type(error).__name__, words, line_of(error)[:500]]


def main() -> None:
    """Take standard input and output for the judge, and serve."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    from IPython.core.interactiveshell import InteractiveShell

    for module in _USED:
        importlib.import_module(module)
    sys.path.append(os.getcwd())  # last: a file that a cell writes must not replace a library
    shell: Any = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.ask_exit = shell.showtraceback = shell.showsyntaxerror = lambda *arguments, **more: None
    Worker(shell, requests, replies).run()


if __name__ == "__main__":
    main()
