"""Worker processes on this machine. They open no port, and a process that is killed is replaced."""

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, Self

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE

ATTEMPTS = 3  # of a task whose process is killed
Heard = Callable[..., None]
_parent: Connection | None = None  # in a worker: the pipe to its parent


class Processes:
    """A pool of ``workers`` processes, by default one per core; fewer share the cores, each with several threads."""

    def __init__(self, workers: int | None = None) -> None:
        workers = workers or cores.usable()
        threads = str(max(1, cores.usable() // workers))
        self._make = lambda: _Process(threads)
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._all = [self._make() for _ in range(workers)]
        for process in self._all:
            self._idle.put(process)
        self._threads, self._is_closed = ThreadPoolExecutor(workers), False

    def submit(self, function: Callable[..., Any], *arguments: Any, heard: Heard = lambda *_: None) -> Future[Any]:
        """Call ``function`` in a process; ``heard`` gets every :func:`report`, in a thread of this process."""
        return self._threads.submit(self._do, function, arguments, heard)

    def _do(self, function: Callable[..., Any], arguments: tuple[Any, ...], heard: Heard) -> Any:
        for _ in range(ATTEMPTS):
            process = self._idle.get()
            try:
                return process.do(function, arguments, heard)
            except BrokenProcessPool:
                if self._is_closed:
                    raise
                self._all.append(process := self._make())
            finally:
                self._idle.put(process)
        raise ChildProcessError(f"the process was killed {ATTEMPTS} times, perhaps because the memory was full")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.end()


class _Process:
    """A pool of one process, and a pipe: one way for reports, the other way to end the process."""

    def __init__(self, threads: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._near, self._far = context.Pipe()
        self._pool = ProcessPoolExecutor(1, context, _begin, (self._far, threads))

    def do(self, function: Callable[..., Any], arguments: tuple[Any, ...], heard: Heard) -> Any:
        future = self._pool.submit(function, *arguments)
        future.add_done_callback(lambda _: self._far.send(None))  # after all reports
        while (said := self._near.recv()) is not None:
            heard(*said)
        return future.result()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._near.send(None)
        self._pool.shutdown(wait=False, cancel_futures=True)


def report(*values: Any) -> None:
    """In a worker: send ``values`` to the function ``heard`` of the task."""
    if _parent is not None:
        _parent.send(values)


def _begin(parent: Connection, threads: str) -> None:
    global _parent
    _parent = parent
    os.environ.setdefault(VARIABLE, threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent says so, or has ended itself."""
    with contextlib.suppress(EOFError, OSError):
        assert _parent is not None
        _parent.recv()
    os._exit(1)
