"""The judge's end of the line to the process of a submission (:mod:`fedlab_course.grading.inside`)."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import psutil

from fedlab_course.grading import keeping, limits, room
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.plain import MAX_BYTES


class Ended(BaseException):
    """The process is gone. The message says what the code did. No check may catch it: it is no ``Exception``."""


class Runner:
    """A process that runs the code of a submission in the folder ``place``."""

    def __init__(self, place: Path, bounds: Limits) -> None:
        self._cell = bounds.cell
        self.late = False  # whether the time is over
        who: dict[str, Any] = {}
        if bounds.user is not None:
            who = {"user": bounds.user, "group": bounds.user, "extra_groups": []}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fedlab_course.grading.inside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=place / "work",
            env=room.environment(place),
            start_new_session=True,
            **who,
        )

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Interrupt the code after ``seconds``, and kill its process if it goes on."""
        self.late = False
        timers = [Timer(seconds, self._interrupt), Timer(seconds + limits.GRACE, self.kill)]
        for timer in timers:
            timer.start()
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()

    def _interrupt(self) -> None:
        self.late = True
        if os.name != "posix":
            self.kill()
        elif self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGINT)

    def run(self, source: str) -> str:
        """Run a cell. Return its error, such as "ValueError: no", or "". Raises :class:`Ended`."""
        with self.within(self._cell):
            reply = self.ask({"cell": source})
        return str(reply.get("error", reply.get("raised")))

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the reply. Raises :class:`Ended` if there is none, or one that cannot be read."""
        assert self._process.stdin is not None and self._process.stdout is not None
        reply, line = None, b""
        with contextlib.suppress(OSError, ValueError, RecursionError, MemoryError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline(MAX_BYTES + 1)
            reply = json.loads(line)
        if isinstance(reply, dict):
            return reply
        self.kill()
        if self.late:
            raise Ended(f"did not end within {self._cell:g} s")
        if line:
            raise Ended("wrote to the line over which it is called")
        raise Ended("ended its process: Python stopped, or used too much memory or too many processes")

    def kill(self) -> None:
        """End the process and everything that it has started: whatever is below the judge."""
        keeping.end(keeping.below(psutil.Process()))
        self._process.wait()
        with contextlib.suppress(ChildProcessError, AttributeError):  # daemons that the judge has adopted
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
