"""Limits on the processes of a submission, and their end."""

import contextlib
import os
import sys
import time
from typing import Any

import psutil

from fedlab_course.grading.limits import Limits

_ADOPT = 36  # PR_SET_CHILD_SUBREAPER


def bind(bounds: Limits) -> None:
    """Bind this process, and all that it starts, to the limits that the system can keep.

    On Linux this process also becomes the parent of every daemon that is started below it, so that none escapes.
    """
    if os.name != "posix":
        return
    import resource

    amounts = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: bounds.file * 2**20}
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
        amounts[resource.RLIMIT_DATA] = bounds.memory * 2**20
    for which, amount in amounts.items():
        with contextlib.suppress(ValueError, OSError):  # the limit is lower already
            resource.setrlimit(which, (amount, amount))


def below(process: psutil.Process) -> list[psutil.Process]:
    """Return every process that ``process`` or its children have started, zombies too; none if it is gone."""
    try:
        found: list[psutil.Process] = process.children(recursive=True)
    except psutil.Error:
        return []
    return found


def memory(processes: list[psutil.Process]) -> float:
    """Return the resident memory of all ``processes`` in MB."""
    used = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            used += process.memory_info().rss
    return used / 2**20


def end(processes: list[psutil.Process]) -> None:
    """Kill ``processes`` and everything below them. All are stopped first, so that they start nothing meanwhile."""
    for _ in range(200):
        every = {one for process in processes for one in [process, *below(process)]}
        living = [process for process in every if _is_alive(process)]
        for method in ("suspend", "kill"):
            for process in living:
                with contextlib.suppress(psutil.Error):
                    getattr(process, method)()
        if not living:
            return
        time.sleep(0.01)


def _is_alive(process: psutil.Process) -> Any:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
