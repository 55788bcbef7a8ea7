"""Parallel work: processes on this machine, or a Dask cluster that already runs.

Dask is imported only here.
"""

import contextlib
import importlib.util
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE

MOST_PROCESSES = 61  # of a pool on Windows


@contextlib.contextmanager
def workers_of(scheduler: str | None, workers: int | None) -> Iterator[Executor]:
    """An executor of the Dask cluster at the address ``scheduler``, or else of ``workers``
    processes on this machine.

    There is one process per core by default; fewer share the cores, each with several threads. They
    open no port. If one is killed, all futures fail with ``BrokenProcessPool``; if the connection
    to a cluster is lost, Dask cancels all futures. Raises ``ImportError`` without Dask, or
    ``ConnectionError``.
    """
    if scheduler is None:
        number = min(workers or cores.usable(), MOST_PROCESSES)
        context = multiprocessing.get_context("spawn")
        far, near = context.Pipe(duplex=False)
        threads = max(1, cores.usable() // number)
        with near:
            pool = ProcessPoolExecutor(number, context, _begin, (far, str(threads)))
            try:
                yield pool
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    else:
        with _connected(scheduler) as client:
            # a second request for a task gets the result of the first one
            yield client.get_executor(pure=True)


def _connected(scheduler: str) -> Any:
    if importlib.util.find_spec("distributed") is None:
        raise ImportError(
            "--scheduler needs Dask, which is not installed: pip install 'dask[distributed]'"
        )
    from distributed import Client

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return Client(scheduler)
    except OSError as error:
        raise ConnectionError(
            f"no scheduler answers: {error}. The same command resumes from here"
        ) from error


def _begin(parent: Connection, threads: str) -> None:
    os.environ.setdefault(VARIABLE, threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Connection) -> None:
    """End this process when the parent closes its end of the pipe, or has ended itself."""
    with contextlib.suppress(EOFError, OSError):
        parent.recv()
    os._exit(1)
