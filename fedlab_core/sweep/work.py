"""What a worker does: one run, from its configuration to its history, going on from a checkpoint that it finds."""

import contextlib
import importlib
import json
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from fedlab_core.history import History
from fedlab_core.rerun import dataset_name, prepared
from fedlab_core.simulation import Diverged, Simulation
from fedlab_core.sweep import runs

MARK = ".fedlab-sweeps"  # in the folder of sweeps: a word by which a worker sees that it is the client's
CHECKPOINT = "checkpoint.npz"
_PAUSE = 0.5  # seconds between two reports of a run's progress


@dataclass
class Outcome:
    """What became of a run: ``status`` "done", "diverged" or "failed", with what a person should know as ``message``.

    ``round``: the last one that was finished, or the one that diverged; ``resumed`` the one of the checkpoint;
    ``seconds`` of computation in all its rounds; ``wall`` of this attempt on ``worker``; ``notes`` for the log.
    """

    status: str
    message: str = ""
    history: History | None = None
    round: int = 0
    resumed: int = 0
    seconds: float = 0.0
    wall: float = 0.0
    worker: str = ""
    notes: list[str] = field(default_factory=list)


def work(config: dict[str, Any], digest: str, folder: str, word: str, modules: Sequence[str] = ()) -> Outcome:
    """Run ``config`` on this Dask worker, with one thread, and report progress as events under ``word``.

    The checkpoint lies in the run's folder if that is the client's ``folder``, as its mark says, and else beside the
    worker, where its successors find it. ``modules`` are imported first, for the algorithms in them. Nothing is raised
    but by these imports: what fails is an outcome.
    """
    from distributed import get_worker

    worker = get_worker()
    torch.set_num_threads(1)
    for module in modules:
        importlib.import_module(module)

    def report(round: int) -> None:
        worker.log_event(word, {"digest": digest, "round": round})

    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = attempt(config, _checkpoint(digest, folder, word, Path(worker.local_directory)), report)
    outcome.wall, outcome.worker = time.perf_counter() - started, worker.address
    outcome.notes += [f"warning: {warning.message}" for warning in caught]
    return outcome


def forget(digests: list[str], word: str, dask_worker: Any) -> None:
    """Remove what checkpoints of finished runs lie beside ``dask_worker``, as Dask passes itself."""
    beside = _beside(Path(dask_worker.local_directory), word)
    for digest in digests:
        (beside / f"{digest}.npz").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other runs' are there
        beside.rmdir()


def attempt(config: dict[str, Any], checkpoint: Path, report: Callable[[int], None]) -> Outcome:
    """Run ``config`` from its ``checkpoint`` if there is one; ``report`` gets the round every half second."""
    outcome = Outcome("done")
    try:
        fed = runs.dealt(dataset_name(config), json.dumps(config["partition"]), config["seed"])
        simulation = prepared(config, fed=fed, checkpoint=checkpoint, progress=False)
        outcome.resumed = simulation.round
        report(simulation.round)
        _to_the_end(simulation, report)
        outcome.history, outcome.round = simulation.history, simulation.round
    except Diverged as error:
        outcome.status, outcome.message = "diverged", str(error)
        outcome.history, outcome.round = error.history, error.round
    except Exception as error:
        outcome.status, outcome.message = "failed", f"{type(error).__name__}: {error}"
        outcome.notes.append(traceback.format_exc())
    if (history := outcome.history) is not None:
        outcome.seconds = history.records[-1].seconds if history.records else 0.0
        on_cpu = None if history.params is None else history.params.cpu()
        outcome.history = replace(history, template=None, params=on_cpu)
    return outcome


def _to_the_end(simulation: Simulation, report: Callable[[int], None]) -> None:
    due = time.monotonic() + _PAUSE
    for record in simulation:
        if time.monotonic() >= due:
            report(record.round)
            due = time.monotonic() + _PAUSE


def _checkpoint(digest: str, folder: str, word: str, scratch: Path) -> Path:
    with contextlib.suppress(OSError):
        if (Path(folder) / MARK).read_text(encoding="utf-8") == word:
            return Path(folder) / "runs" / digest / CHECKPOINT
    return _beside(scratch, word) / f"{digest}.npz"


def _beside(scratch: Path, word: str) -> Path:
    """A folder that outlives the worker whose own is ``scratch``."""
    return scratch.parent / f"fedlab-{word}"
