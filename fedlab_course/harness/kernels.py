"""The kernels that are running: all of them can be stopped at once, from any thread."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock
from typing import Any


class Kernels:
    """The kernels of one run. Once they are ``stopped``, another one ends as soon as it starts."""

    def __init__(self) -> None:
        self.stopped = False
        self._processes: list[subprocess.Popen] = []
        self._lock = Lock()

    def manager(self) -> type:
        """A class of managers, for a notebook client, whose kernels belong to these."""
        from jupyter_client.manager import AsyncKernelManager

        launched = self._launched

        class Manager(AsyncKernelManager):
            async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
                await super()._async_launch_kernel(kernel_cmd, **kw)
                launched(self.provisioner.process)  # type: ignore[union-attr]

            _launch_kernel = _async_launch_kernel

        return Manager

    def stop(self) -> None:
        """End all kernels and whatever they have started, at once."""
        with self._lock:
            self.stopped = True
            for process in self._processes:
                _kill(process)

    def _launched(self, process: subprocess.Popen) -> None:
        with self._lock:
            self._processes = [one for one in self._processes if one.poll() is None] + [process]
            if self.stopped:
                _kill(process)


def _kill(process: subprocess.Popen) -> None:
    """Kill a kernel and what it has started: on POSIX systems it leads a process group of its own."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        if sys.platform == "win32":  # it knows who started whom; a kernel alone would leave its own processes behind
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True)
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
