"""The runs of a grid: each one configuration, known by its digest."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fedlab_core import recipes, simulation
from fedlab_core.data import Dataset, FederatedDataset, load_dataset
from fedlab_core.description import digest
from fedlab_core.sweep.grid import Cell, Grid

_OF_DATA_AND_WEIGHTS = ("fingerprint", "versions")


@dataclass(frozen=True)
class Run:
    """One run: what was asked for, the configuration that says it in full, and its ``digest``, which is its name."""

    axes: dict[str, Any]
    config: dict[str, Any]
    digest: str

    @property
    def seed(self) -> int:
        return int(self.config["seed"])


def simulations(grid: Grid) -> Iterator[tuple[Cell, simulation.Simulation]]:
    """Each cell with its simulation under the first seed, ready to run: what cannot run is refused while it is made.

    Raises ``ValueError`` for what does not fit together, and ``DatasetNotFound``.
    """
    for cell in grid.cells:
        seed, what = grid.seeds[0], f"{in_words(cell.axes)}: "
        try:
            fed = dealt(cell.dataset, json.dumps(cell.deal), seed)
            model = recipes.model(*cell.model, fed, seed)
            ready = simulation.Simulation(fed, model, cell.algorithm, **cell.settings, seed=seed, progress=False)
        except ValueError as error:
            raise ValueError(what + str(error)) from error
        yield cell, ready


def expand(grid: Grid) -> list[Run]:
    """All runs, in the order of the grid, with all seeds of a cell in a row. Raises as :func:`simulations` does, and
    ``ValueError`` for two runs that are the same.
    """
    runs: dict[str, Run] = {}
    for cell, ready in simulations(grid):
        for seed in grid.seeds:
            run = run_of(cell, ready.history.config, seed)
            if run.digest in runs:
                both = f"{in_words(runs[run.digest].axes)} and {in_words(run.axes)}"
                raise ValueError(f"two runs of the sweep are the same: {both}")
            runs[run.digest] = run
    return list(runs.values())


def in_words(axes: dict[str, Any]) -> str:
    """What was asked for, in one line."""
    return ", ".join(f"{name} {value}" for name, value in axes.items())


def run_of(cell: Cell, first: dict[str, Any], seed: int) -> Run:
    """The run of a cell under ``seed``, from the configuration that it has under the ``first``."""
    config = {name: value for name, value in first.items() if name not in _OF_DATA_AND_WEIGHTS}
    model = {name: value for name, value in first["model"].items() if name != "initial"}
    config |= {"seed": seed, "model": model | {"seed": seed}}
    if "seed" in first["partition"]:
        config["partition"] = first["partition"] | {"seed": seed}
    config = json.loads(json.dumps(config))
    return Run(cell.axes | {"seed": seed}, config, digest(json.dumps(config, sort_keys=True).encode()))


@lru_cache(maxsize=2)
def dataset_of(name: str) -> Dataset:
    """A data set, read once for the runs that follow each other."""
    return load_dataset(name)


@lru_cache(maxsize=4)
def dealt(dataset: str, recipe: str, seed: int) -> FederatedDataset:
    """A federation from the name of its data set and its recipe as JSON, dealt once for all algorithms."""
    return recipes.federation(dataset_of(dataset), json.loads(recipe), seed)
