"""Processes that run the code of others: which are alive, what they use, and their end."""

import time
from collections.abc import Iterable
from contextlib import suppress

import psutil


def below(process: psutil.Process | None = None) -> list[psutil.Process]:
    """Return the living processes that ``process``, by default this one, or its children have
    started.
    """
    children: list[psutil.Process] = []
    with suppress(psutil.Error):
        children = (process or psutil.Process()).children(recursive=True)
    return [child for child in children if is_alive(child)]


def is_alive(process: psutil.Process) -> bool:
    """Return whether ``process`` runs; a zombie does not."""
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def memory(processes: Iterable[psutil.Process]) -> float:
    """Return the resident memory of all ``processes`` in MB."""
    used = 0
    for process in processes:
        with suppress(psutil.Error):
            used += process.memory_info().rss
    return used / 2**20


def end(processes: Iterable[psutil.Process]) -> None:
    """Kill ``processes`` and everything below them. All are stopped first, so that they start
    nothing meanwhile.
    """
    given = list(processes)
    for _ in range(200):
        every = {member for process in given for member in [process, *below(process)]}
        living = [process for process in every if is_alive(process)]
        if not living:
            return
        for method in ("suspend", "kill"):
            for process in living:
                with suppress(psutil.Error):
                    getattr(process, method)()
        time.sleep(0.01)
