"""Threads that work side by side on whole chunks of clients or samples, each with one PyTorch
thread inside.

PyTorch's own threads wait at the end of every operation, which takes most of the time of a small
model.

A process that was forked after a matrix product of PyTorch on several threads can wait forever in
its first one: the fork copies the lock of PyTorch's own threads and not the threads
(docs/sweeps.md). Start processes by "spawn" instead. After a fork this module starts new threads of
its own, and inside them PyTorch uses one thread.
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
PER_CORE = 16  # threads at most; more only take memory
LITTLE = 10_000_000  # products: a millisecond, ten times the cost of using a thread
Task = TypeVar("Task")
Result = TypeVar("Result")
_LOCK = threading.Lock()
_SETTINGS: dict[int, int] = {}  # PyTorch's setting before `one_inside`, by Python thread
_CURRENT = threading.local()


def number(own: int | None = None) -> int:
    """The threads of a run: ``own``, or $FEDLAB_THREADS, or one per core of
    :func:`fedlab_core.engines.cores.usable`.

    The last is at most PyTorch's own number of threads (``torch.set_num_threads``,
    $OMP_NUM_THREADS). Raises ``ValueError`` for more than ``PER_CORE`` threads per core.
    """
    if own is not None:
        return _checked("threads", own)
    word = os.environ.get(VARIABLE)
    if not word:
        return min(cores.usable(), _setting())
    is_short = word.isdecimal() and len(word) < 100  # Python refuses to read thousands of digits
    return _checked(f"${VARIABLE}", int(word) if is_short else word)


def _checked(name: str, value: object) -> int:
    """Check a number of threads against the number of cores."""
    usable = cores.usable()
    try:
        return validation.integer(name, value, minimum=1, maximum=PER_CORE * usable)
    except ValueError as error:
        raise ValueError(f"{error} ({PER_CORE} per core), for example {usable}") from None


def _setting() -> int:
    """PyTorch's number of threads, also for a thread that began while another was in
    ``one_inside``.
    """
    return max([torch.get_num_threads(), *_SETTINGS.values()])


@contextmanager
def one_inside() -> Iterator[None]:
    """Let PyTorch use one thread in this Python thread, and restore the number afterwards."""
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
    """Yield the results of ``work`` on the ``tasks`` in order, with at most 2 · ``threads`` results
    ahead.

    After an error, an interruption or leaving the loop, only the tasks that have begun go on.
    """
    if threads == 1 or hasattr(_CURRENT, "is_worker"):
        for task in tasks:
            with one_inside():
                result = work(task)
            yield result
        return
    waiting = deque[Future[Result]]()
    with one_inside():  # a new pool sets PyTorch's number for new threads
        pool = _pool(threads)
    try:
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _begin_worker() -> None:
    _CURRENT.is_worker = True
    torch.set_num_threads(1)
    # the first call in a thread fixes its number; later it would take that of the main thread
    torch.get_num_threads()


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool of that many threads, shared by all runs of this process; all its threads have
    started.

    Raises ``RuntimeError``, and ends the threads that have started, if the system refuses one.
    """
    pool = ThreadPoolExecutor(threads, "fedlab", _begin_worker)
    barrier = threading.Barrier(threads)
    try:
        wait([pool.submit(barrier.wait) for _ in range(threads)])
    except RuntimeError as error:
        barrier.abort()  # the threads that have started wait there
        pool.shutdown(cancel_futures=True)
        raise RuntimeError(
            f"threads={threads}: the system refused to start so many; use fewer"
        ) from error
    return pool


if hasattr(os, "register_at_fork"):
    # a child process has none of these threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
