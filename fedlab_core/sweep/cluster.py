"""The runs of a sweep on a Dask cluster that already runs. Dask is imported only here."""

import contextlib
import importlib.util
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from fedlab_core.sweep import crew
from fedlab_core.sweep.crew import Outcome
from fedlab_core.sweep.local import Heard, Processes
from fedlab_core.sweep.plan import Run

MARK = ".fedlab-sweeps"  # in the folder of sweeps: a word by which a worker recognises the client's folder


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """A Dask client of the address ``scheduler``. Raises ``ImportError`` without Dask, or ``ConnectionError``."""
    if importlib.util.find_spec("distributed") is None:
        raise ImportError("--scheduler needs Dask, which is not installed: pip install 'dask[distributed]'")
    from distributed import Client

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler)
    except OSError as error:
        raise ConnectionError(f"no scheduler answers: {error}. The same command resumes from here") from error
    with client:
        yield client


@contextlib.contextmanager
def workers_of(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """An executor of the cluster at the address ``scheduler``, or else of ``workers`` processes on this machine."""
    if scheduler is None:
        with Processes(workers) as processes:
            yield processes
    else:
        with connected(scheduler) as client:
            yield client.get_executor(pure=False)


def outcomes(
    scheduler: str, runs: Sequence[Run], heard: Heard, folder: str, word: str, modules: Sequence[str]
) -> Iterator[tuple[Run, Outcome]]:
    """The outcome of each of the ``runs``, in the order in which they end.

    If the connection is lost, a new client asks for the missing outcomes: Dask's own reconnection can get stuck.
    """
    waiting = {run.digest: run for run in runs}
    while waiting:
        with connected(scheduler) as client:
            client.subscribe_topic(word, lambda event: heard(*event[1]))
            for digest, outcome in _until_cut(client, list(waiting.values()), folder, word, modules):
                yield waiting.pop(digest), outcome
            if not waiting:
                client.run(_forget, [run.digest for run in runs], word, on_error="ignore")


def _until_cut(
    client: Any, runs: Sequence[Run], folder: str, word: str, modules: Sequence[str]
) -> Iterator[tuple[str, Outcome]]:
    """Outcomes up to the first that is cancelled: Dask cancels all when a connection is lost."""
    from distributed import as_completed

    keys = {f"{word}-{run.digest}": run.digest for run in runs}
    places = {"folder": folder, "word": word, "modules": modules}
    futures = client.map(work, [run.config for run in runs], list(keys.values()), key=list(keys), **places)
    for future in as_completed(futures):
        try:
            outcome = Outcome("failed", repr(error)) if (error := future.exception()) else future.result()
        except (CancelledError, OSError):
            return
        yield keys[future.key], outcome
        future.release()


def work(config: dict[str, Any], digest: str, folder: str, word: str, modules: Sequence[str]) -> Outcome:
    """Run ``config`` on this Dask worker and report progress as events under ``word``.

    The checkpoint is in the run's folder if this worker sees the client's ``folder``, and else beside the worker, where
    its successors find it.
    """
    from distributed import get_worker

    worker = get_worker()
    checkpoint = _beside(worker, word) / f"{digest}.npz"
    with contextlib.suppress(OSError):
        if (Path(folder) / MARK).read_text(encoding="utf-8") == word:
            checkpoint = Path(folder) / "runs" / digest / crew.CHECKPOINT
    return crew.work(config, checkpoint, modules, worker.address, lambda round: worker.log_event(word, (digest, round)))


def _forget(digests: list[str], word: str, dask_worker: Any) -> None:
    """Remove the checkpoints of finished runs beside ``dask_worker``, a name that Dask requires."""
    for digest in digests:
        (_beside(dask_worker, word) / f"{digest}.npz").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there is none, or it has files of other runs
        _beside(dask_worker, word).rmdir()


def _beside(worker: Any, word: str) -> Path:
    """A folder that outlives the worker."""
    return Path(worker.local_directory).parent / f"fedlab-{word}"
