"""One run of a sweep: what a worker does with it, and the parallel workers of a sweep."""

import contextlib
import importlib
import json
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from fedlab_core.history import History
from fedlab_core.reproduce.rerun import dataset_name, prepared
from fedlab_core.simulation import Diverged, Simulation
from fedlab_core.sweep import local
from fedlab_core.sweep.plan import Config, Run, dealt

CHECKPOINT = "checkpoint.npz"
_PAUSE = 0.5  # seconds between two reports of a run's progress


@dataclass
class Outcome:
    """The result of a run: ``status`` "done", "diverged" or "failed", and a ``message`` for a person.

    ``round``: the last one that was finished, or the one that diverged; ``resumed`` the one of the checkpoint;
    ``seconds`` of computation in all its rounds; ``wall`` of this attempt on ``worker``.
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


def outcomes(
    workers: int | None, runs: Sequence[Run], heard: local.Heard, folder: str, modules: Sequence[str]
) -> Iterator[tuple[Run, Outcome]]:
    """The outcome of each of the ``runs`` in processes on this machine, in the order in which they end.

    ``heard`` gets the digest and the round of running runs; ``modules`` are imported for the algorithms in them.
    """
    with local.Processes(workers) as processes:
        checkpoints = [Path(folder) / "runs" / run.digest / CHECKPOINT for run in runs]
        futures = {
            processes.submit(_work, run.config, run.digest, checkpoint, modules, heard=heard): run
            for run, checkpoint in zip(runs, checkpoints, strict=True)
        }
        for future in as_completed(futures):
            yield futures[future], Outcome("failed", repr(error)) if (error := future.exception()) else future.result()


def _work(config: Config, digest: str, checkpoint: Path, modules: Sequence[str]) -> Outcome:
    return work(config, checkpoint, modules, f"process {os.getpid()}", lambda round: local.report(digest, round))


def work(
    config: Config, checkpoint: Path, modules: Sequence[str], worker: str, report: Callable[[int], None]
) -> Outcome:
    """Run ``config`` on this ``worker`` in one thread (more with $FEDLAB_THREADS), and log warnings and errors."""
    started = time.perf_counter()
    torch.set_num_threads(1)
    for module in modules:
        importlib.import_module(module)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = attempt(config, checkpoint, report)
    outcome.wall, outcome.worker = time.perf_counter() - started, worker
    ended = f"{outcome.status} in round {outcome.round}, from round {outcome.resumed}. {outcome.message}"
    said = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {worker}: {ended}"
    outcome.log = "\n".join([said, *(f"warning: {warning.message}" for warning in caught), outcome.log])
    return outcome


def attempt(config: Config, checkpoint: Path, report: Callable[[int], None]) -> Outcome:
    """Run ``config``, from its ``checkpoint`` if there is one; ``report`` gets the round every half second."""
    outcome, due = Outcome("done"), 0.0
    try:
        simulation = _simulation(config, checkpoint)
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


def _simulation(config: Config, checkpoint: Path) -> Simulation:
    """The simulation of ``config``; a checkpoint that cannot be read is set aside with a warning."""
    fed = dealt(dataset_name(config), json.dumps(config["partition"]), config["seed"])
    with contextlib.suppress(FileNotFoundError):
        try:
            return prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
        except ValueError as error:
            os.replace(checkpoint, checkpoint.with_suffix(".damaged"))  # not found: the checkpoint is not the reason
            warnings.warn(f"{error}. The run starts anew", stacklevel=2)
    return prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
