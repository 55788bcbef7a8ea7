"""Run again from the configuration in a history."""

import dataclasses
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from torch import nn

from fedlab_core import schedules, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.algorithms.tiers import Tiers
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset, partition
from fedlab_core.history import History, rebuild
from fedlab_core.reproduce import recipes
from fedlab_core.settings import declarations
from fedlab_core.simulation import Simulation


def rerun(
    config: Mapping[str, Any],
    *,
    fed: FederatedDataset | None = None,
    model: nn.Module | None = None,
    algorithm: Algorithm | None = None,
    **settings: Any,
) -> History:
    """Run again with ``config``, the :attr:`History.config` of a run, and return the new history.

    On the same machine and versions the numbers are the same. Pass what is not of this library: ``fed``, ``model``,
    ``algorithm``, ``loss``, ``availability``. Further ``settings`` replace those of the run. Raises ``ValueError`` for
    what cannot be made again, and for other data or initial weights.
    """
    return prepared(config, fed=fed, model=model, algorithm=algorithm, **settings).run()


def prepared(
    config: Mapping[str, Any], *, fed: Any = None, model: Any = None, algorithm: Any = None, **settings: Any
) -> Simulation:
    """Make the :class:`Simulation` of :func:`rerun`; digests that ``config`` lacks are not checked."""
    fed = _federation(config) if fed is None else fed
    if "fingerprint" in config and fed.fingerprint != config["fingerprint"]:
        raise ValueError(f"fed: its data have the fingerprint {fed.fingerprint}, not the run's {config['fingerprint']}")
    if model is None and (model := rebuild(config["model"])) is None:
        name = config["model"]["name"]
        raise ValueError(f"model {name} is not built in; pass model=… with the weights of the start")
    if algorithm is None:
        algorithm = _instance("algorithm", config["algorithm"], recipes.subclasses(Algorithm))
    recorded = {name: config[name] for name in declarations() if name in config}
    recorded["lr"] = schedules.from_description(config["lr"])
    for name in ("loss", "availability"):
        if isinstance(recorded[name], Mapping) and name not in settings:
            raise ValueError(f"{name}={recorded[name]}: cannot be made from its description; pass {name}=…")
    simulation = Simulation(fed, model, algorithm, **{**recorded, **settings})
    ours = simulation.history.config["model"]["initial"]
    if ours != (theirs := config["model"].get("initial", ours)):
        raise ValueError(f"model: its weights have the digest {ours}, not {theirs} as at the start of the run")
    return simulation


def dataset_name(config: Mapping[str, Any]) -> str:
    """The name of a run's data set for ``load_dataset``."""
    return {"synthetic(1, 1)": "synthetic"}.get(config["dataset"], config["dataset"])


def _federation(config: Mapping[str, Any]) -> FederatedDataset:
    known, deal = dataset_name(config), config["partition"]
    while deal["law"] == "shared":
        deal = deal["parts"]
    if known not in DATASETS or deal["law"] not in partition.LAWS:
        about = f"dataset {config['dataset']!r} dealt by the law {deal['law']!r}"
        raise ValueError(f"{about} cannot be made again; pass fed=…")
    return recipes.federation(load_dataset(known), config["partition"])


def _instance(what: str, description: Mapping[str, Any], kinds: Iterable[type]) -> Any:
    """Make an instance of the dataclass that a description names."""
    kind = {kind.__name__: kind for kind in kinds}.get(description["name"])
    if kind is None or not dataclasses.is_dataclass(kind):
        raise ValueError(f"{what} {description['name']} cannot be made from its description; pass {what}=…")
    given = {name: value for name, value in description.items() if name != "name"}
    validation.names(f"{what} {description['name']}", given, [field.name for field in dataclasses.fields(kind)])
    fields = {name: value for name, value in given.items() if name in signature(kind).parameters}
    for name, part, base in (("tiers", "tiers", Tiers), ("inner", "algorithm", Algorithm)):
        if isinstance(fields.get(name), Mapping):
            fields[name] = _instance(part, fields[name], recipes.subclasses(base))
    return kind(**fields)
