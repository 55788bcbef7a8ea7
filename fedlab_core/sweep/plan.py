"""The plan of a sweep: a grid in a TOML file, in which lists are axes, and its runs."""

import importlib
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from fedlab_core import validation
from fedlab_core.aliases import Config, Keywords
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset
from fedlab_core.description import digest
from fedlab_core.reproduce import recipes
from fedlab_core.simulation import Simulation

_NAMED = {"dataset": "name", "model": "name", "partition": "law", "algorithm": "name"}
_ORDER = ("dataset", "model", "partition", "settings", "algorithm")
_USUAL: Keywords = {
    "seed": 0,
    "target_accuracy": None,
    "modules": [],
    "settings": {},
    "dataset": "digits",
    "model": "mlp",
    "partition": "dirichlet",
    "algorithm": "fedavg",
}
# settings that have a key or a place of their own, or no effect
_ELSEWHERE = ("seed", "checkpoint", "threads")
Axes: TypeAlias = dict[str, Any]  # the name of an axis, such as "algorithm.mu" → its value
Table: TypeAlias = dict[str, Any]  # a table of the file: keys → values, or lists of them
Wish = Callable[[Axes], bool]  # whether a point with these axes is wanted
_dataset = lru_cache(maxsize=2)(load_dataset)


@dataclass(frozen=True)
class Run:
    """One run: its values on the axes, its full configuration, and its name.

    The name is the ``digest`` of the configuration.
    """

    axes: Axes
    config: Config
    digest: str

    def about(self, names: Iterable[str]) -> str:
        """The values on some of the axes, in one line."""
        return ", ".join(f"{name} {self.axes[name]}" for name in names if name in self.axes)


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep, in the order of its grid, with all seeds of a point in a row.

    ``source``: the file; ``target``: an accuracy whose first round is reported; ``modules`` with
    further algorithms.
    """

    source: Path
    runs: list[Run]
    target: float | None
    modules: list[str]

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def axes(self) -> list[str]:
        """The axes on which runs differ, and always the algorithm; the seed comes last."""
        table = pd.DataFrame([run.axes for run in self.runs], dtype=object)
        axes = []
        for name in table:
            is_varied = table[name].map(repr).nunique() > 1
            if name != "seed" and (is_varied or name == "algorithm"):
                axes.append(name)
        return [*axes, "seed"]


def read(path: Path, only: Wish | None = None, seeds: Sequence[int] = ()) -> Plan:
    """Read the plan in a TOML file, and check each point of the grid without a run; ``only`` leaves
    out other points.

    ``seeds``: instead of the file's. Raises ``ValueError`` for bad values and two equal runs, and
    ``DatasetNotFound``.
    """
    try:
        given = _USUAL | tomllib.loads(path.read_text(encoding="utf-8"))
        for key in given:
            validation.choice("key", key, _USUAL)
        modules = validation.typed("modules", given["modules"], list[str])
        for module in modules:
            importlib.import_module(module)
        target = given["target_accuracy"]
        target = None if target is None else validation.real("target_accuracy", target, maximum=1)
        seeds = [validation.seed(seed) for seed in seeds or _axis("seed", given["seed"])]
        runs = _grid(given, seeds, only)
    except (ValueError, TypeError) as error:  # TypeError: a relative name in modules
        raise ValueError(f"{path}: {error}") from error
    return Plan(path.resolve(), runs, target, modules)


def _grid(given: Table, seeds: list[int], only: Wish | None) -> list[Run]:
    """The runs of all points of the grid; ``ValueError`` if two of them are the same."""
    choices = [_choices(key, given[key]) for key in _ORDER]
    runs: dict[str, Run] = {}
    for tables in itertools.product(*choices):
        for run in _runs(dict(zip(_ORDER, tables, strict=True)), seeds, only):
            if run.digest in runs:
                raise ValueError(f"two runs are the same: {runs[run.digest].axes} and {run.axes}")
            runs[run.digest] = run
    return list(runs.values())


def _choices(key: str, value: object) -> list[Table]:
    """All tables with single values that an entry of the file stands for."""
    tables = list[Table]()
    for entry in _axis(key, value):
        tables += _points(key, entry)
    return tables


def _points(key: str, entry: object) -> Iterator[Table]:
    """Yield every choice of one value from each list of a table; a name alone is a table too."""
    called = _NAMED.get(key)
    table = {called: entry} if called and isinstance(entry, str) else entry
    if not isinstance(table, dict) or (called and called not in table):
        raise ValueError(
            f"{key}={entry!r}: must be a name, or a table such as {{{called or 'rounds'} = …, …}}"
        )
    axes = [_axis(f"{key}.{name}", value) for name, value in table.items()]
    for values in itertools.product(*axes):
        yield dict(zip(table, values, strict=True))


def _axis(where: str, value: object) -> list[Any]:
    """The values on an axis: a list, or a single value."""
    if value == []:
        raise ValueError(f"{where}=[]: an axis needs at least one value")
    return value if isinstance(value, list) else [value]


def _runs(tables: dict[str, Table], seeds: list[int], only: Wish | None) -> Iterator[Run]:
    """The runs of one point of the grid: only seeds differ in their configurations."""
    names = {key: validation.typed(key, tables[key][called], str) for key, called in _NAMED.items()}
    arguments = {key: _without(table, _NAMED.get(key)) for key, table in tables.items()}
    axes = _axes(names, arguments)
    if only is not None and not only(axes):
        return
    try:
        first = _simulation(names, arguments, seeds[0]).history.config
    except ValueError as error:
        point = ", ".join(f"{name} {value}" for name, value in axes.items())
        raise ValueError(f"{point}: {error}") from error
    for seed in seeds:
        config = _without_data(_with_seed(first, seed))
        yield Run(axes | {"seed": seed}, config, run_digest(config))


def _axes(names: dict[str, str], arguments: dict[str, Table]) -> Axes:
    """The point as one dictionary; settings keep their names, others get a prefix."""
    axes: Axes = dict(names)
    for key, table in arguments.items():
        if key != "settings":
            axes |= {f"{key}.{name}": value for name, value in table.items()}
    return axes | arguments["settings"]


def _with_seed(config: Config, seed: int) -> Config:
    """The configuration of the same run with another seed."""
    deal = config["partition"]
    if "seed" in deal:
        deal = deal | {"seed": seed}
    model = config["model"] | {"seed": seed}
    return config | {"seed": seed, "model": model, "partition": deal}


def _without_data(config: Config) -> Config:
    """A configuration as JSON has it, without digests of data and weights, and without versions."""
    common = _without(config, "fingerprint", "versions")
    common["model"] = _without(config["model"], "initial")
    return json.loads(json.dumps(common))


def _without(table: Table, *names: str | None) -> Table:
    return {name: value for name, value in table.items() if name not in names}


def run_digest(config: Config) -> str:
    """The digest of a configuration, of a plan or of a history."""
    return digest(json.dumps(_without_data(config), sort_keys=True).encode())


def _simulation(names: dict[str, str], arguments: dict[str, Table], seed: int) -> Simulation:
    validation.names(f"dataset {names['dataset']}", arguments["dataset"], [])
    known = [name for name in recipes.textual_settings() if name not in _ELSEWHERE]
    for name in arguments["settings"]:
        validation.choice("setting", name, known)
    settings = recipes.run_settings(arguments["settings"] | {"seed": seed})
    algorithm = recipes.algorithm(names["algorithm"], arguments["algorithm"])
    deal = recipes.deal_of(names["partition"], arguments["partition"])
    fed = dealt(validation.choice("dataset", names["dataset"], DATASETS), json.dumps(deal), seed)
    model = recipes.model(names["model"], arguments["model"], fed, seed)
    return Simulation(fed, model, algorithm, **settings, progress=False)


@lru_cache(maxsize=4)
def dealt(dataset: str, recipe: str, seed: int) -> FederatedDataset:
    """Make a federation from its data set and its recipe as JSON, once for all algorithms."""
    return recipes.federation(_dataset(dataset), json.loads(recipe), seed)
