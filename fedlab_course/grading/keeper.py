"""Run as a script, apart from the package: keep one kernel, and whatever it starts, within limits, and end them all.

``python -I keeper.py LIMITS COMMAND…``, where LIMITS is JSON. On Linux the keeper adopts what daemons leave behind, so
nothing that the kernel ever started escapes it. It ends, with everything below it, when the kernel ends, when a limit
is passed (its exit status says which), when it is told to, and when whoever started it is gone.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

import psutil

EVERY = 0.5  # seconds between two looks
MEMORY, PROCESSES = 70, 71  # exit status
_DIE_TOO, _ADOPT = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER


def main(limits: dict, command: list) -> int:
    """Run ``command`` to its end, within the limits; returns the exit status."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    if os.name == "posix":
        signal.signal(signal.SIGINT, lambda *_: None)  # an interruption is for the kernel, which is in the same group
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    other = {} if limits.get("user") is None else {"user": limits["user"], "group": limits["user"], "extra_groups": []}
    kernel = subprocess.Popen(command, preexec_fn=(lambda: _bind(limits)) if os.name == "posix" else None, **other)
    status = 0
    while kernel.poll() is None and not stop and os.getppid() == parent:
        status = _passed(limits)
        if status:
            break
        _reap(kernel.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            kernel.wait(EVERY)
    _end_all()
    with contextlib.suppress(subprocess.TimeoutExpired):
        kernel.wait(5)
    return status


def _bind(limits: dict) -> None:
    import resource

    def set_limit(which: int, amount: int) -> None:
        with contextlib.suppress(ValueError, OSError):  # it is lower already
            resource.setrlimit(which, (amount, amount))

    set_limit(resource.RLIMIT_CORE, 0)
    set_limit(resource.RLIMIT_FSIZE, limits["file"] * 2**20)
    if sys.platform == "linux":  # elsewhere the limit is not heeded, or breaks the start
        ctypes.CDLL(None).prctl(_DIE_TOO, signal.SIGKILL, 0, 0, 0)  # should somebody kill the keeper
        set_limit(resource.RLIMIT_DATA, limits["memory"] * 2**20)


def _passed(limits: dict) -> int:
    """The exit status for a limit that is passed, else 0."""
    below, used = psutil.Process().children(recursive=True), 0
    for process in below:
        with contextlib.suppress(psutil.Error):
            used += process.memory_info().rss
    if used > limits["memory"] * 2**20:
        return MEMORY
    return PROCESSES if len(below) > limits["processes"] else 0


def _reap(kernel: int) -> None:
    """Forget the adopted that have ended. The kernel's own end is for its handle to see."""
    if sys.platform != "linux":
        return
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error, ChildProcessError):
            if process.pid != kernel and process.status() == psutil.STATUS_ZOMBIE:
                os.waitpid(process.pid, os.WNOHANG)


def _end_all() -> None:
    """Kill everything below until it is gone; all is stopped first, so that nothing new is started meanwhile."""
    for _ in range(200):
        below = psutil.Process().children(recursive=True)
        living = []
        for process in below:
            with contextlib.suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE:
                    living.append(process)
        if not living:
            return
        for method in ("suspend", "kill"):
            for process in living:
                with contextlib.suppress(psutil.Error):
                    getattr(process, method)()
        with contextlib.suppress(ChildProcessError, AttributeError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
