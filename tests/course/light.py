"""Pages of real notebooks without the hours that the grids of their explorers take."""

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from fedlab_course.explore.choices import Choice
from fedlab_course.publish import runs


class InThisProcess:
    """In the place of processes, each of which would import PyTorch for a run of a second."""

    def __init__(self, scheduler: None, workers: int) -> None:
        pass

    def __enter__(self) -> "InThisProcess":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


@contextmanager
def light_grids(out: Path, trained: Path) -> Iterator[None]:
    """Give the explorers of notebooks that are run into ``out`` two positions each, their own and
    one local epoch, and three rounds.

    Their runs lie in ``trained``, for all tests. What a grid of runs holds, and how it is trained,
    is tested elsewhere.
    """

    def short(**choice: Any) -> Choice:
        return Choice(**choice | {"rounds": 3})

    trained.mkdir(exist_ok=True)
    (out / "runs").symlink_to(trained)
    few = dataclasses.replace(
        runs.PARAMETERS["local_epochs"], stored=runs.PARAMETERS["local_epochs"].stored[:1]
    )
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "Choice", short)
        patch.setattr(runs, "SHOWN", ("local_epochs",))
        patch.setitem(runs.PARAMETERS, "local_epochs", few)
        patch.setattr(runs, "workers_of", InThisProcess)
        yield
    torch.set_num_threads(threads)
