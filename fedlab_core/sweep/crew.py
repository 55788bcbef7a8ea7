"""The runs of a sweep on parallel workers, and what a worker does with one run."""

import importlib
import json
import os
import platform
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from fedlab_core.aliases import Config
from fedlab_core.history import History
from fedlab_core.reproduce.rerun import dataset_name, prepared
from fedlab_core.simulation import Diverged, Simulation
from fedlab_core.sweep import workers
from fedlab_core.sweep.plan import Run, dealt

CHECKPOINT = "checkpoint.npz"
ATTEMPTS = 3  # of a sweep whose processes are killed


@dataclass
class Outcome:
    """The result of a run: ``status`` "done", "diverged" or "failed", and a ``message`` for a
    person.

    ``round``: the last one that was finished, or the one that diverged; ``resumed`` the one of the
    checkpoint; ``seconds`` of computation in all its rounds; ``worker``: the process that ended the
    run.
    """

    status: str = "done"
    message: str = ""
    round: int = 0
    resumed: int = 0
    seconds: float = 0.0
    worker: str = ""
    log: str = ""
    history: History | None = None


def outcomes(
    scheduler: str | None,
    processes: int | None,
    runs: Sequence[Run],
    folder: Path,
    modules: Sequence[str],
) -> Iterator[tuple[Run, Outcome]]:
    """Yield each run with its outcome, in the order in which they end. ``folder`` has a folder for
    each run.

    If a process is killed, new ones resume the runs. If the connection to the ``scheduler`` is
    lost, a new client asks for the missing outcomes: Dask's own reconnection can get stuck.
    """
    missing = {run.digest: run for run in runs}
    attempt = 1
    while missing:
        with workers.workers_of(scheduler, processes) as pool:
            futures = {}
            for name, run in missing.items():
                future = pool.submit(work, run.config, str(folder / name), modules)
                futures[future] = name
            for future in as_completed(list(futures)):
                name = futures.pop(future)
                if future.cancelled():
                    break
                error = future.exception()
                if isinstance(error, BrokenProcessPool) and attempt < ATTEMPTS:
                    attempt += 1
                    break
                outcome = Outcome("failed", repr(error)) if error else future.result()
                yield missing.pop(name), outcome


def work(config: Config, folder: str, modules: Sequence[str]) -> Outcome:
    """Run ``config`` in one thread (more with $FEDLAB_THREADS), after the import of ``modules``
    with algorithms.

    The checkpoint is in ``folder``; a worker on a machine that does not have this folder writes
    none.
    """
    torch.set_num_threads(1)
    for module in modules:
        importlib.import_module(module)
    outcome = Outcome(worker=f"process {os.getpid()} on {platform.node()}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _attempt(outcome, config, Path(folder, CHECKPOINT) if os.path.isdir(folder) else None)
    if outcome.history is not None:
        records = outcome.history.records
        params = outcome.history.params
        outcome.seconds = records[-1].seconds if records else 0.0
        on_cpu = None if params is None else params.cpu()
        outcome.history = replace(outcome.history, template=None, params=on_cpu)
    end = (
        f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {outcome.worker}: {outcome.status} in round "
        f"{outcome.round}, from round {outcome.resumed}. {outcome.message}"
    )
    messages = [f"warning: {warning.message}" for warning in caught]
    outcome.log = "\n".join([end, *messages, outcome.log])
    return outcome


def _attempt(outcome: Outcome, config: Config, checkpoint: Path | None) -> None:
    try:
        run = simulation(config, checkpoint)
        outcome.resumed = run.round
        outcome.history = run.run()
        outcome.round = run.round
    except Diverged as error:
        outcome.status = "diverged"
        outcome.message = str(error)
        outcome.history = error.history
        outcome.round = error.round
    except Exception as error:
        outcome.status = "failed"
        outcome.message = f"{type(error).__name__}: {error}"
        outcome.log = traceback.format_exc()


def simulation(config: Config, checkpoint: Path | None = None) -> Simulation:
    """Make the simulation of a run, which continues from its ``checkpoint`` if there is one.

    A checkpoint that cannot be read is set aside with a warning.
    """
    fed = dealt(dataset_name(config), json.dumps(config["partition"]), config["seed"])
    try:
        return prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
    except ValueError as error:
        if checkpoint is None or not checkpoint.exists():
            raise
        checkpoint.replace(checkpoint.with_suffix(".damaged"))
        warnings.warn(f"{error}. The run starts anew", stacklevel=2)
        return prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
