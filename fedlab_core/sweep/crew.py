"""The workers of a sweep: a Dask cluster, on this machine or running elsewhere, and what each does with a run."""

import contextlib
import importlib.util
import json
import logging
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE
from fedlab_core.history import History
from fedlab_core.reproduce.rerun import dataset_name, prepared
from fedlab_core.simulation import Diverged
from fedlab_core.sweep.plan import Run, dealt

MARK = ".fedlab-sweeps"  # in the folder of sweeps: a word by which a worker sees that it is the client's
CHECKPOINT = "checkpoint.npz"
_PAUSE = 0.5  # seconds between two reports of a run's progress
# Dask lets glibc give every freed block of 64 kB back to the system, which costs a third of the time of small runs.
_TRIM = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"


@dataclass
class Outcome:
    """What became of a run: ``status`` "done", "diverged" or "failed", with what a person should know as ``message``.

    ``round``: the last one that was finished, or the one that diverged; ``resumed`` the one of the checkpoint;
    ``seconds`` of computation in all its rounds; ``wall`` of this attempt on ``worker``; ``log``: what happened.
    """

    status: str
    message: str = ""
    history: History | None = None
    round: int = 0
    resumed: int = 0
    seconds: float = 0.0
    wall: float = 0.0
    worker: str = ""
    log: str = ""


@contextlib.contextmanager
def assembled(scheduler: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """What a Dask client takes: the address of a ``scheduler``, or a cluster of ``workers`` processes on this machine,
    by default one per core; fewer share the cores, each with several threads. Raises ``ImportError`` without Dask.
    """
    if importlib.util.find_spec("distributed") is None:
        raise ImportError("a sweep needs Dask, which is not installed: pip install 'dask[distributed]'")
    import dask
    from distributed import LocalCluster

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler is not None:
        yield scheduler
        return
    workers = workers or cores.usable()
    environment = {VARIABLE: os.environ.get(VARIABLE, str(max(1, cores.usable() // workers)))}
    of_one_task = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "env": environment}
    with dask.config.set({_TRIM: None}):
        cluster = LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **of_one_task)
    with cluster:
        yield cluster


def outcomes(
    cluster: Any, runs: Sequence[Run], heard: Callable[[str, int], None], **places: Any
) -> Iterator[tuple[Run, Outcome]]:
    """What becomes of each of the ``runs``, as they end; ``heard`` gets the digest and the round of what is going on.

    ``places``: what :func:`work` takes besides. Runs of one seed go out together, because they share their data. If
    the connection to the scheduler is lost, what has not come back is asked for again, by a new client: Dask's own way
    of connecting again can get stuck. Raises ``ConnectionError`` if nobody answers.
    """
    from distributed import Client

    waiting = {run.digest: run for run in sorted(runs, key=lambda run: run.config["seed"])}
    while waiting:
        try:
            client = Client(cluster)
        except OSError as error:
            raise ConnectionError(f"no scheduler answers: {error}. The same command goes on from here") from error
        with client:
            client.subscribe_topic(places["word"], lambda event: heard(*event[1]))
            for digest, outcome in _until_cut(client, list(waiting.values()), places):
                yield waiting.pop(digest), outcome
            if not waiting:
                client.run(_forget, [run.digest for run in runs], places["word"], on_error="ignore")


def _until_cut(client: Any, runs: Sequence[Run], places: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
    """The outcomes of the runs up to the first that is cancelled, which is what Dask does when a connection is lost."""
    from distributed import as_completed

    keys = {f"{places['word']}-{run.digest}": run.digest for run in runs}
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

    It has one thread, unless ``$FEDLAB_THREADS`` gives the worker more.

    The checkpoint lies in the run's folder if that is the client's ``folder``, as its mark says, and else beside the
    worker, where its successors find it. ``modules`` are imported first, for the algorithms in them.
    """
    from distributed import get_worker

    worker, started = get_worker(), time.perf_counter()
    torch.set_num_threads(1)
    for module in modules:
        importlib.import_module(module)
    checkpoint = _beside(worker, word) / f"{digest}.npz"
    with contextlib.suppress(OSError):
        if (Path(folder) / MARK).read_text(encoding="utf-8") == word:
            checkpoint = Path(folder) / "runs" / digest / CHECKPOINT
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = attempt(config, checkpoint, lambda round: worker.log_event(word, (digest, round)))
    outcome.wall, outcome.worker = time.perf_counter() - started, worker.address
    ended = f"{outcome.status} in round {outcome.round}, from round {outcome.resumed}. {outcome.message}"
    said = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {worker.address}: {ended}"
    outcome.log = "\n".join([said, *(f"warning: {warning.message}" for warning in caught), outcome.log])
    return outcome


def attempt(config: dict[str, Any], checkpoint: Path, report: Callable[[int], None]) -> Outcome:
    """Run ``config`` from its ``checkpoint`` if there is one; ``report`` gets the round every half second."""
    outcome, due = Outcome("done"), 0.0
    try:
        fed = dealt(dataset_name(config), json.dumps(config["partition"]), config["seed"])
        simulation = prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
        outcome.resumed = simulation.round
        for record in simulation:
            if time.monotonic() >= due:
                report(record.round)
                due = time.monotonic() + _PAUSE
        outcome.history, outcome.round = simulation.history, simulation.round
    except Diverged as error:
        outcome.status, outcome.message = "diverged", str(error)
        outcome.history, outcome.round = error.history, error.round
    except Exception as error:
        outcome.status, outcome.message = "failed", f"{type(error).__name__}: {error}"
        outcome.log = traceback.format_exc()
    if (history := outcome.history) is not None:
        outcome.seconds = history.records[-1].seconds if history.records else 0.0
        on_cpu = None if history.params is None else history.params.cpu()
        outcome.history = replace(history, template=None, params=on_cpu)
    return outcome


def _forget(digests: list[str], word: str, dask_worker: Any) -> None:
    """Remove what checkpoints of finished runs lie beside ``dask_worker``, as Dask passes itself."""
    for digest in digests:
        (_beside(dask_worker, word) / f"{digest}.npz").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there is none, or other runs' are there
        _beside(dask_worker, word).rmdir()


def _beside(worker: Any, word: str) -> Path:
    """A folder that outlives the worker."""
    return Path(worker.local_directory).parent / f"fedlab-{word}"
