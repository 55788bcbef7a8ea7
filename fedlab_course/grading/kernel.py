"""One kernel of a submission: it runs cells, and nothing of what they print is read."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fedlab_course.grading import keeper, limits, room, rows
from fedlab_course.grading.limits import Limits

MAX_REPLY = 64 * 2**20  # bytes
_TICK = 0.1
_WHY = {
    keeper.MEMORY: "used more than {memory} MB of memory",
    keeper.PROCESSES: "started more than {processes} processes",
}


class Ended(Exception):
    """The kernel is gone, or had to be killed; the message says what the cell did, such as "did not end in time"."""


class Kernel:
    """A kernel in a :class:`~fedlab_course.grading.room.Room`, kept within limits by a process of its own."""

    def __init__(self, place: room.Room, bounds: Limits) -> None:
        from jupyter_client.session import Session
        from zmq import DEALER, LINGER, MAXMSGSIZE, Context

        self._limits = bounds
        self.deadline = time.monotonic() + bounds.total
        key = secrets.token_hex(16)
        self._session: Any = Session(key=key.encode(), signature_scheme="hmac-sha256", username="grading")
        self._file, url = _connection_file(place.path, key)
        context: Any = Context.instance()
        socket: Any = context.socket(DEALER)
        for option, value in ((LINGER, 0), (MAXMSGSIZE, MAX_REPLY)):
            socket.setsockopt(option, value)
        socket.identity = self._session.bsession
        self._socket = socket
        if bounds.user is not None:
            os.chown(self._file, bounds.user, bounds.user)
        self._process = self._launch(place)
        self._socket.connect(url)

    def _launch(self, place: room.Room) -> subprocess.Popen:
        kept = [sys.executable, "-I", keeper.__file__, _as_json(self._limits)]
        kernel = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", str(self._file)]
        kernel += ["--log-level=CRITICAL", "--ext=fedlab_course.answering.serving"]
        quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        where: Any = {"cwd": place.path / "work", "env": place.environment, "start_new_session": os.name == "posix"}
        try:
            return subprocess.Popen([*kept, *kernel], **quiet, **where)
        except OSError as error:
            raise rows.GradingFailed(f"no kernel starts: {error}") from error

    def begin(self) -> None:
        """Wait until the kernel answers. Raises :class:`~fedlab_course.grading.rows.GradingFailed` if it does not."""
        try:
            self._ask("kernel_info_request", {})
            reply = self._reply(time.monotonic() + self._limits.starting)
            if reply is None:
                raise rows.GradingFailed(f"no kernel starts: it does not answer within {self._limits.starting:g} s")
        except Ended as error:
            raise rows.GradingFailed("no kernel starts: its process ends at once") from error

    def run(self, source: str) -> str:
        """Run a cell; returns its error, such as "ValueError: no", or "".

        Raises :class:`Ended` if the cell takes the kernel with it.
        """
        self.send(source)
        return self.wait(self.until())

    def until(self) -> float:
        """When a cell that begins now must have ended."""
        return min(time.monotonic() + self._limits.cell, self.deadline)

    def send(self, source: str) -> None:
        """Begin to run a cell, for :meth:`wait` to end."""
        flags = {"silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        self._ask("execute_request", {"code": source, "stop_on_error": False, **flags})

    def wait(self, deadline: float) -> str:
        """Wait for the end of what runs, and interrupt it at ``deadline``. Returns and raises as :meth:`run`."""
        content = self._reply(deadline)
        if content is None:
            self.interrupt()
            content = self._reply(time.monotonic() + limits.GRACE)
            if content is None:
                raise Ended(f"did not end within {self._limits.cell:g} s")
        if content.get("status") != "error":
            return ""
        return f"{str(content.get('ename'))[:100]}: {str(content.get('evalue'))[: rows.MAX_WORDS]}"

    def interrupt(self) -> None:
        """Interrupt what runs; on Windows a kernel cannot be, and is killed."""
        if os.name != "posix":
            self.kill()
            raise Ended(f"did not end within {self._limits.cell:g} s")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def replied(self) -> bool:
        """Whether what was sent has ended."""
        return bool(self._socket.poll(0))

    def ended(self) -> Ended:
        """Why the kernel is gone."""
        why = _WHY.get(self._process.wait(), "ended the kernel: Python itself stopped")
        return Ended(why.format(**asdict(self._limits)))

    def terminate(self) -> None:
        """Begin to end the kernel, and all that it has started; any thread may."""
        if self.alive:
            self._process.terminate()  # the keeper then ends what it keeps, and itself

    def kill(self) -> None:
        """End the kernel and all that it has started."""
        self.terminate()
        if self.alive:
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if os.name == "posix":  # a submission may have killed its keeper
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._socket.close()

    def _ask(self, kind: str, content: dict[str, Any]) -> None:
        sent: Any = self._session.send(self._socket, kind, content)
        self._asked = sent["header"]["msg_id"]

    def _reply(self, deadline: float) -> dict[str, Any] | None:
        """The content of the reply to the latest message; None if there is none before ``deadline``."""
        while True:
            left = deadline - time.monotonic()
            if self._socket.poll(max(0, min(left, _TICK)) * 1000):
                try:
                    message: Any = self._session.recv(self._socket)[1]
                except Exception:  # a kernel that was tampered with may send anything
                    continue
                if _is_reply(message, self._asked):
                    return message["content"]
            elif not self.alive:
                raise self.ended()
            if left <= 0:
                return None


def _is_reply(message: Any, asked: str) -> bool:
    """Whether a message is the reply to ``asked``, and of the form of one."""
    if not isinstance(message, dict) or not isinstance(message.get("parent_header"), dict):
        return False
    return message["parent_header"].get("msg_id") == asked and isinstance(message.get("content"), dict)


def _as_json(bounds: Limits) -> str:
    return json.dumps({name: value for name, value in asdict(bounds).items() if isinstance(value, int)})


def _connection_file(folder: Path, key: str) -> tuple[Path, str]:
    """Write the file that a kernel is started with; returns it and the address of the kernel's shell."""
    from jupyter_client.connect import write_connection_file

    path = folder / "kernel.json"
    if os.name == "posix":
        ip = str(folder / "s")
        ports: Any = dict(zip(_PORTS, range(1, 6), strict=True))
        write_connection_file(str(path), key=key.encode(), transport="ipc", ip=ip, **ports)
        return path, f"ipc://{ip}-1"
    _, info = write_connection_file(str(path), key=key.encode(), transport="tcp", ip="127.0.0.1")
    return path, f"tcp://127.0.0.1:{info['shell_port']}"


_PORTS = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
