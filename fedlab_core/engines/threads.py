"""Threads that work side by side, each with one PyTorch thread inside.

PyTorch's own threads share the work of one operation and wait for each other at its end. A step of a small model is a
hundred tiny operations, so on a busy machine most of the time is waiting. Here a thread has a whole chunk of clients or
samples to itself, and the threads meet once, when all chunks are done. PyTorch releases the interpreter lock inside its
operations, so they run at the same time.
"""

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import torch

from fedlab_core import validation
from fedlab_core.engines import cores

VARIABLE = "FEDLAB_THREADS"
LITTLE = 10_000_000  # products: a millisecond, ten times what it takes to hand work to a thread
Task = TypeVar("Task")
Result = TypeVar("Result")
_POLL = 0.5  # seconds; some systems deliver Ctrl-C only between two waits
_LOCK = threading.Lock()
_SETTINGS: dict[int, int] = {}  # of the Python threads inside `one_inside`: PyTorch's number of threads before
_CURRENT = threading.local()  # in a worker: the event that tells it to stop


class Stopped(Exception):
    """Raised in a worker whose result nobody waits for any more."""


def number(own: int | None = None) -> int:
    """How many threads a run uses: ``own``, or else $FEDLAB_THREADS, or else one for each usable core.

    The usable cores are those of :func:`fedlab_core.engines.cores.usable`, but no more than PyTorch's own number of
    threads (``torch.set_num_threads``, $OMP_NUM_THREADS).
    """
    if own is None and os.environ.get(VARIABLE):
        word = os.environ[VARIABLE]
        own = validation.integer(f"${VARIABLE}", int(word) if word.isdecimal() else word, minimum=1)
    return own or min(cores.usable(), _setting())


def _setting() -> int:
    """PyTorch's number of threads; a thread that began while another was in ``one_inside`` has that one's."""
    return max([torch.get_num_threads(), *_SETTINGS.values()])


@contextmanager
def one_inside() -> Iterator[None]:
    """Let PyTorch's operations of this Python thread use one thread each; afterwards the number is as before."""
    own = threading.get_ident()
    with _LOCK:
        is_outermost = own not in _SETTINGS
        if is_outermost:
            _SETTINGS[own] = _setting()
            torch.set_num_threads(1)
    try:
        yield
    finally:
        if is_outermost:
            with _LOCK:
                torch.set_num_threads(_SETTINGS.pop(own))


def each(work: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    """The results of ``work`` on each of the ``tasks``, in their order; with ``threads`` > 1 as many run side by side.

    No more than twice as many results are kept ahead. An error, an interruption, and leaving the loop stop all workers
    at their next :func:`check_stopped`.
    """
    if threads == 1 or hasattr(_CURRENT, "stop"):
        for task in tasks:
            with one_inside():
                result = work(task)
            yield result
        return
    stop, waiting = threading.Event(), deque[Future[Result]]()
    with one_inside():  # a pool that begins here sets PyTorch's number for new threads
        pool = _pool(threads)
    try:
        for task in tasks:
            waiting.append(pool.submit(_in_worker, stop, work, task))
            if len(waiting) > 2 * threads:
                yield _result(waiting)
        while waiting:
            yield _result(waiting)
    finally:
        stop.set()
        for future in waiting:
            future.cancel()


def check_stopped() -> None:
    """Raise :class:`Stopped` in a worker whose result nobody waits for. Long tasks call it between two steps."""
    if hasattr(_CURRENT, "stop") and _CURRENT.stop.is_set():
        raise Stopped


def _result(waiting: "deque[Future[Result]]") -> Result:
    """The result of the first future, which leaves ``waiting``."""
    while not wait(list(waiting)[:1], _POLL).done:
        pass
    return waiting.popleft().result()


def _in_worker(stop: threading.Event, work: Callable[[Task], Result], task: Task) -> Result:
    _CURRENT.stop = stop
    try:
        check_stopped()
        return work(task)
    finally:
        del _CURRENT.stop


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool of that many threads, which all runs of this process share. All its threads have begun."""
    pool = ThreadPoolExecutor(threads, "fedlab", torch.set_num_threads, (1,))
    barrier = threading.Barrier(threads)
    wait([pool.submit(barrier.wait) for _ in range(threads)])
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child process has none of these threads
