"""A grid of experiments from a TOML file: lists are axes, everything else is common to all runs."""

import importlib
import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_core import arguments, recipes, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.data import DATASETS
from fedlab_core.models import MODELS

_NOT_IN_GRID = ("seed", "checkpoint")  # seeds have a key of their own, checkpoints a place of their own
_TABLES = {"dataset": "name", "model": "name", "partition": "law", "algorithm": "name"}
_USUAL = {"dataset": "digits", "model": "mlp", "partition": "dirichlet", "algorithm": "fedavg", "seed": 0}


@dataclass(frozen=True)
class Cell:
    """One point of the grid but for the seed: what was asked for, as ``axes``, and what it means."""

    axes: dict[str, Any]
    dataset: str
    model: tuple[str, dict[str, Any]]
    deal: dict[str, Any]
    algorithm: Algorithm
    settings: dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """All cells, each of them run with all ``seeds``.

    ``target``: an accuracy whose first round is to be reported; ``modules`` of Python that define further algorithms.
    """

    name: str
    cells: list[Cell]
    seeds: list[int]
    target: float | None
    modules: list[str]


def read(path: str | Path) -> Grid:
    """The grid in a TOML file. Raises ``ValueError`` for what no run could be made of; nothing is read or run yet."""
    path = Path(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        return _grid(path.stem, given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _grid(name: str, given: dict[str, Any]) -> Grid:
    for key in given:
        validation.choice("key", key, [*_USUAL, "settings", "target_accuracy", "modules"])
    modules = given.get("modules", [])
    if not arguments.matches(modules, list[str]):
        raise ValueError(f"modules={modules!r}: must be a list of names of Python modules")
    for module in modules:
        importlib.import_module(module)
    given = _USUAL | given
    seeds = [validation.seed(seed) for seed in _axis("seed", given["seed"])]
    target = given.get("target_accuracy")
    entries = {key: list(_entries(key, given[key])) for key in _TABLES}
    settings = list(_points("settings", given.get("settings", {})))
    order = itertools.product(
        entries["dataset"], entries["model"], entries["partition"], settings, entries["algorithm"]
    )
    cells = [_cell(*point) for point in order]
    target = None if target is None else validation.real("target_accuracy", target, maximum=1)
    return Grid(name, cells, seeds, target, modules)


def _entries(key: str, value: Any) -> Iterator[dict[str, Any]]:
    """The points of one of the tables: a name, a table with a name and parameters, or a list of these."""
    called = _TABLES[key]
    for entry in _axis(key, value):
        table = {called: entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict) or called not in table:
            raise ValueError(f'{key}={entry!r}: must be a name, or a table such as {{{called} = "…", …}}')
        yield from _points(key, table)


def _points(where: str, table: Any) -> Iterator[dict[str, Any]]:
    """Every choice of one value from each list of ``table``."""
    if not isinstance(table, dict):
        raise ValueError(f"{where}={table!r}: must be a table")
    axes = [_axis(f"{where}.{key}", value) for key, value in table.items()]
    for values in itertools.product(*axes):
        yield dict(zip(table, values, strict=True))


def _axis(where: str, value: Any) -> list[Any]:
    if value == []:
        raise ValueError(f"{where}=[]: an axis needs at least one value")
    return value if isinstance(value, list) else [value]


def _cell(
    dataset: Mapping[str, Any],
    model: Mapping[str, Any],
    partition: Mapping[str, Any],
    settings: Mapping[str, Any],
    algorithm: Mapping[str, Any],
) -> Cell:
    tables = {"dataset": dataset, "model": model, "partition": partition, "algorithm": algorithm}
    axes = {_column(key, own): table[own] for key, table in tables.items() for own in table} | dict(settings)
    names = {key: arguments.typed(key, tables[key][called], str) for key, called in _TABLES.items()}
    rest = {key: {own: table[own] for own in table if own != _TABLES[key]} for key, table in tables.items()}
    validation.choice("dataset", names["dataset"], DATASETS)
    if rest["dataset"]:
        validation.choice("parameter of dataset", next(iter(rest["dataset"])), [])
    for name in settings:
        validation.choice("setting", name, [known for known in recipes.textual_settings() if known not in _NOT_IN_GRID])
    return Cell(
        axes=axes,
        dataset=names["dataset"],
        model=(validation.choice("model", names["model"], MODELS), rest["model"]),
        deal=recipes.deal_of(names["partition"], rest["partition"]),
        algorithm=recipes.algorithm(names["algorithm"], rest["algorithm"]),
        settings={name: value for name, value in recipes.run_settings(settings).items() if name not in _NOT_IN_GRID},
    )


def _column(key: str, own: str) -> str:
    return key if own == _TABLES[key] else f"{key}.{own}"
