"""The plan of a sweep: a grid in a TOML file, in which lists are axes, and its runs."""

import importlib
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core import validation
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset
from fedlab_core.reproduce import recipes
from fedlab_core.reproduce.description import digest
from fedlab_core.simulation import Simulation

_NAMED = {"dataset": "name", "model": "name", "partition": "law", "algorithm": "name"}
_ORDER = ("dataset", "model", "partition", "settings", "algorithm")
_USUAL: dict[str, Any] = {"seed": 0, "target_accuracy": None, "modules": [], "settings": {}}
_USUAL |= {"dataset": "digits", "model": "mlp", "partition": "dirichlet", "algorithm": "fedavg"}
_ELSEWHERE = ("seed", "checkpoint", "threads")  # settings that have a key or a place of their own, or no effect
Config = dict[str, Any]
Wish = Callable[[dict[str, Any]], bool]  # whether a point with these axes is wanted
_dataset = lru_cache(maxsize=2)(load_dataset)


@dataclass(frozen=True)
class Run:
    """One run: its values on the axes, its full configuration, and the ``digest`` of that, which is its name."""

    axes: dict[str, Any]
    config: Config
    digest: str

    def about(self, names: Iterable[str]) -> str:
        """The values on some of the axes, in one line."""
        return ", ".join(f"{name} {self.axes[name]}" for name in names if name in self.axes)


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep, in the order of its grid, with all seeds of a point in a row.

    ``source``: the file; ``target``: an accuracy whose first round is reported; ``modules`` with further algorithms.
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
        varied = [name for name in table if name == "algorithm" or table[name].map(repr).nunique() > 1]
        return [name for name in varied if name != "seed"] + ["seed"]


def read(path: Path, only: Wish | None = None, seeds: Sequence[int] = ()) -> Plan:
    """Read the plan in a TOML file, and check each point of the grid without a run; ``only`` leaves out other points.

    ``seeds``: instead of the file's. Raises ``ValueError`` for bad values and two equal runs, and ``DatasetNotFound``.
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
        points = [[point for one in _axis(key, given[key]) for point in _points(key, one)] for key in _ORDER]
        runs: dict[str, Run] = {}
        for tables in itertools.product(*points):
            for run in _runs(dict(zip(_ORDER, tables, strict=True)), seeds, only):
                if run.digest in runs:
                    raise ValueError(f"two runs are the same: {runs[run.digest].axes} and {run.axes}")
                runs[run.digest] = run
    except (ValueError, TypeError) as error:  # TypeError: a relative name in modules
        raise ValueError(f"{path}: {error}") from error
    return Plan(path.resolve(), list(runs.values()), target, modules)


def _points(key: str, entry: Any) -> Iterator[dict[str, Any]]:
    """Yield every choice of one value from each list of a table; a name alone is a table too."""
    called = _NAMED.get(key)
    table = {called: entry} if called and isinstance(entry, str) else entry
    if not isinstance(table, dict) or (called and called not in table):
        raise ValueError(f"{key}={entry!r}: must be a name, or a table such as {{{called or 'rounds'} = …, …}}")
    for values in itertools.product(*[_axis(f"{key}.{own}", value) for own, value in table.items()]):
        yield dict(zip(table, values, strict=True))


def _axis(where: str, value: Any) -> list[Any]:
    if value == []:
        raise ValueError(f"{where}=[]: an axis needs at least one value")
    return value if isinstance(value, list) else [value]


def _runs(tables: dict[str, dict[str, Any]], seeds: list[int], only: Wish | None) -> Iterator[Run]:
    """The runs of one point of the grid: only seeds differ in their configurations."""
    names = {key: validation.typed(key, tables[key][called], str) for key, called in _NAMED.items()}
    rest = {key: {own: table[own] for own in table if own != _NAMED.get(key)} for key, table in tables.items()}
    axes = names | {f"{key}.{own}": table[own] for key, table in rest.items() for own in table if key != "settings"}
    axes |= rest["settings"]
    if only is not None and not only(axes):
        return
    try:
        first = _simulation(names, rest, seeds[0]).history.config
    except ValueError as error:
        raise ValueError(f"{', '.join(f'{name} {value}' for name, value in axes.items())}: {error}") from error
    for seed in seeds:
        deal = first["partition"] | ({"seed": seed} if "seed" in first["partition"] else {})
        config = _without_data(first | {"seed": seed, "model": first["model"] | {"seed": seed}, "partition": deal})
        yield Run(axes | {"seed": seed}, config, run_digest(config))


def _without_data(config: Config) -> Config:
    """A configuration as JSON has it, without digests of data and weights, and without versions."""
    common = {name: value for name, value in config.items() if name not in ("fingerprint", "versions")}
    model = {name: value for name, value in config["model"].items() if name != "initial"}
    return json.loads(json.dumps(common | {"model": model}))


def run_digest(config: Config) -> str:
    """The digest of a configuration, of a plan or of a history."""
    return digest(json.dumps(_without_data(config), sort_keys=True).encode())


def _simulation(names: dict[str, str], rest: dict[str, dict[str, Any]], seed: int) -> Simulation:
    validation.names(f"dataset {names['dataset']}", rest["dataset"], [])
    for own in rest["settings"]:
        validation.choice("setting", own, [known for known in recipes.textual_settings() if known not in _ELSEWHERE])
    settings = recipes.run_settings(rest["settings"] | {"seed": seed})
    algorithm = recipes.algorithm(names["algorithm"], rest["algorithm"])
    deal = recipes.deal_of(names["partition"], rest["partition"])
    fed = dealt(validation.choice("dataset", names["dataset"], DATASETS), json.dumps(deal), seed)
    return Simulation(
        fed, recipes.model(names["model"], rest["model"], fed, seed), algorithm, **settings, progress=False
    )


@lru_cache(maxsize=4)
def dealt(dataset: str, recipe: str, seed: int) -> FederatedDataset:
    """Make a federation from the name of its data set and its recipe as JSON, once for all algorithms."""
    return recipes.federation(_dataset(dataset), json.loads(recipe), seed)
