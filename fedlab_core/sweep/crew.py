"""The workers of a sweep: a Dask cluster, on this machine or running elsewhere, and the runs handed out to it."""

import contextlib
import importlib.util
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from fedlab_core.sweep.folder import Folder
from fedlab_core.sweep.runs import Run
from fedlab_core.sweep.work import Outcome, forget, work

# Dask lets glibc give every freed block of 64 kB back to the system, which costs a third of the time of small runs.
_TRIM = "MALLOC_TRIM_THRESHOLD_"


@contextlib.contextmanager
def assembled(scheduler: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """What a Dask client takes: the address of a ``scheduler``, or a cluster of ``workers`` processes on this machine,
    by default one per core. Raises ``ImportError`` without Dask.
    """
    if importlib.util.find_spec("distributed") is None:
        raise ImportError("a sweep needs Dask, which is not installed: pip install 'fedlab-core[cluster]'")
    import dask
    from distributed import LocalCluster

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler is not None:
        yield scheduler
        return
    of_one_thread = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set({f"distributed.nanny.pre-spawn-environ.{_TRIM}": None}):
        cluster = LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **of_one_thread)
    with cluster:
        yield cluster


def outcomes(
    cluster: Any, runs: Sequence[Run], folder: Folder, heard: Callable[[str, int], None], modules: Sequence[str] = ()
) -> Iterator[tuple[Run, Outcome]]:
    """What becomes of each of the ``runs``, as they end; ``heard`` gets the digest and the round of what is going on.

    Runs of one seed go out together, because they share their data. If the connection to the scheduler is lost, what
    has not come back is asked for again, by a new client: Dask's own way of connecting again can get stuck. Raises
    ``ConnectionError`` if nobody answers.
    """
    word = folder.word()
    waiting = {run.digest: run for run in sorted(runs, key=lambda run: run.seed)}
    for run in runs:
        folder.prepare(run)
    while waiting:
        with _client(cluster) as client:
            client.subscribe_topic(word, lambda event: heard(event[1]["digest"], event[1]["round"]))
            for digest, outcome in _until_cut(
                client, list(waiting.values()), folder=str(folder.path), word=word, modules=modules
            ):
                yield waiting.pop(digest), outcome
            if not waiting:
                client.run(forget, [run.digest for run in runs], word, on_error="ignore")


def _client(cluster: Any) -> Any:
    from distributed import Client

    try:
        return Client(cluster)
    except OSError as error:
        raise ConnectionError(f"no scheduler answers: {error}. The same command goes on from what is done") from error


def _until_cut(client: Any, runs: Sequence[Run], *, word: str, **common: Any) -> Iterator[tuple[str, Outcome]]:
    """The outcomes of the runs up to the first that is cancelled, which is what Dask does when a connection is lost."""
    from distributed import as_completed

    keys = {f"{word}-{run.digest}": run.digest for run in runs}
    configs, digests = [run.config for run in runs], [run.digest for run in runs]
    futures = client.map(work, configs, digests, key=list(keys), word=word, **common)
    for future in as_completed(futures):
        try:
            outcome = Outcome("failed", repr(error)) if (error := future.exception()) else future.result()
        except (CancelledError, OSError):
            return
        yield keys[future.key], outcome
        future.release()
