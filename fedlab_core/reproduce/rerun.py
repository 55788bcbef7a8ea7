"""Run again from the configuration in a history."""

import dataclasses
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, TypeVar

from torch import nn

from fedlab_core import schedules, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.algorithms.tiers import Tiers
from fedlab_core.aliases import Given
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset, partition
from fedlab_core.history import History, rebuild
from fedlab_core.reproduce import recipes
from fedlab_core.settings import declarations
from fedlab_core.simulation import Simulation

T = TypeVar("T")


def rerun(
    config: Given,
    *,
    fed: FederatedDataset | None = None,
    model: nn.Module | None = None,
    algorithm: Algorithm | None = None,
    **settings: Any,
) -> History:
    """Run again with ``config``, the :attr:`History.config` of a run, and return the new history.

    On the same machine and versions the numbers are the same. Pass what is not of this library:
    ``fed``, ``model``, ``algorithm``, ``loss``, ``availability``. Further ``settings`` replace
    those of the run. Raises ``ValueError`` for what cannot be made again, and for other data or
    initial weights.
    """
    return prepared(config, fed=fed, model=model, algorithm=algorithm, **settings).run()


def prepared(
    config: Given,
    *,
    fed: FederatedDataset | None = None,
    model: nn.Module | None = None,
    algorithm: Algorithm | None = None,
    **settings: Any,
) -> Simulation:
    """Make the :class:`Simulation` of :func:`rerun`; digests
    that ``config`` lacks are not checked.
    """
    fed = _federation(config) if fed is None else fed
    if "fingerprint" in config and fed.fingerprint != config["fingerprint"]:
        raise ValueError(
            f"fed: its data have the fingerprint {fed.fingerprint}, not the run's "
            f"{config['fingerprint']}"
        )
    if model is None:
        model = rebuild(config["model"])
    if model is None:
        name = config["model"]["name"]
        raise ValueError(
            f"model {name} is not built in; pass model=… with the weights of the start"
        )
    if algorithm is None:
        algorithm = _instance("algorithm", config["algorithm"], recipes.subclasses(Algorithm))
    recorded = {name: config[name] for name in declarations() if name in config}
    recorded["lr"] = schedules.from_description(config["lr"])
    for name in ("loss", "availability"):
        if isinstance(recorded[name], Mapping) and name not in settings:
            raise ValueError(
                f"{name}={recorded[name]}: cannot be made from its description; pass {name}=…"
            )
    simulation = Simulation(fed, model, algorithm, **{**recorded, **settings})
    given = simulation.history.config["model"]["initial"]
    recorded_digest = config["model"].get("initial", given)
    if given != recorded_digest:
        raise ValueError(
            f"model: its weights have the digest {given}, not {recorded_digest} as at the start of "
            "the run"
        )
    return simulation


def dataset_name(config: Given) -> str:
    """The name of a run's data set for ``load_dataset``."""
    name: str = config["dataset"]
    return "synthetic" if name == "synthetic(1, 1)" else name


def _federation(config: Given) -> FederatedDataset:
    known = dataset_name(config)
    deal = config["partition"]
    while deal["law"] == "shared":
        deal = deal["parts"]
    if known not in DATASETS or deal["law"] not in partition.LAWS:
        about = f"dataset {config['dataset']!r} dealt by the law {deal['law']!r}"
        raise ValueError(f"{about} cannot be made again; pass fed=…")
    return recipes.federation(load_dataset(known), config["partition"])


def _instance(owner: str, description: Given, kinds: Iterable[type[T]]) -> T:
    """Make an instance of the dataclass that a description names."""
    kind = {kind.__name__: kind for kind in kinds}.get(description["name"])
    if kind is None or not dataclasses.is_dataclass(kind):
        raise ValueError(
            f"{owner} {description['name']} cannot be made from its description; pass {owner}=…"
        )
    given = {name: value for name, value in description.items() if name != "name"}
    names = [field.name for field in dataclasses.fields(kind)]
    validation.names(f"{owner} {description['name']}", given, names)
    parameters = signature(kind).parameters
    arguments = {name: value for name, value in given.items() if name in parameters}
    if isinstance(arguments.get("tiers"), Mapping):
        arguments["tiers"] = _instance("tiers", arguments["tiers"], recipes.subclasses(Tiers))
    if isinstance(arguments.get("inner"), Mapping):
        inner = _instance("algorithm", arguments["inner"], recipes.subclasses(Algorithm))
        arguments["inner"] = inner
    return kind(**arguments)
