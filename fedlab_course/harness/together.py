"""Work done by several threads at once, and how many."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

from fedlab_core.engines import cores
from fedlab_course.harness.kernel import THREADS

Task = TypeVar("Task")
_POLL = 0.5  # seconds; some systems deliver Ctrl-C only between two waits


def default_jobs() -> int:
    """As many kernels as this process may use cores, each with its threads; at least 1."""
    threads = os.environ.get(THREADS, "1")
    return max(1, cores.usable() // int(threads) if threads.isdecimal() and int(threads) else cores.usable())


def each(
    tasks: Sequence[Task],
    jobs: int,
    work: Callable[[Task], None],
    done: Callable[[Task], None],
    stop: Callable[[], None],
) -> None:
    """Do ``work`` on every task, begun in this order, ``jobs`` at once; ``done`` gets each task that came to its end.

    ``work`` runs in threads, ``done`` in the calling one. Whatever either raises, and Ctrl-C, ends all: no other task
    is begun, and ``stop`` is called, which must bring the work that is going on to its end.
    """
    with ThreadPoolExecutor(min(jobs, max(1, len(tasks)))) as pool:
        futures = {pool.submit(work, task): task for task in tasks}
        try:
            while futures:
                for future in wait(futures, _POLL, FIRST_COMPLETED).done:
                    task = futures.pop(future)
                    future.result()
                    done(task)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
