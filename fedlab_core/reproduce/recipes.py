"""Make data, model, algorithm and settings from names and values or texts.

The command line, sweeps and :func:`fedlab_core.rerun` use it; everything is checked before data are read.
"""

import functools
import inspect
import operator
import typing
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any

from torch import nn

from fedlab_core import models, schedules, settings, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.data import Dataset, FederatedDataset, partition

# for settings without a default
DEFAULT_SETTINGS = {"rounds": 50, "clients_per_round": 0.2, "batch_size": 10, "lr": 0.05}
DEFAULT_EPOCHS = 5
DEFAULT_DEAL = {"num_clients": 100}
_TEXTUAL = (bool, int, float, str)


def algorithm(name: str, given: Mapping[str, Any]) -> Algorithm:
    """Make an algorithm from its name and parameters; ``ValueError`` for a bad name, parameter or value.

    The name is that of any imported dataclass under :class:`Algorithm`, unless a parameter is itself an algorithm.
    """
    found: list[Any] = [kind for kind in subclasses(Algorithm) if is_dataclass(kind)]
    known = {kind.__name__.lower(): kind for kind in found if Algorithm not in [field.type for field in fields(kind)]}
    kind = known[validation.choice("algorithm", name.lower(), known)]
    return kind(**_arguments(f"algorithm {name}", given, _parameters_of(kind)))


def subclasses(kind: type[Any]) -> list[type[Any]]:
    """All direct and indirect subclasses, the library's last, so that their names win."""
    direct: list[type[Any]] = kind.__subclasses__()
    every = [found for child in direct for found in (child, *subclasses(child))]
    return sorted(every, key=lambda found: found.__module__.startswith("fedlab_core."))


def run_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check settings given as text or values, and add defaults; ``lr`` may be a table, such as
    {schedule = "InverseTime", lr0 = 0.01}. Raises ``ValueError`` for an unknown setting or a bad value.
    """
    known = textual_settings()
    for name in given:
        validation.choice("setting", name, known)
    chosen = DEFAULT_SETTINGS | {name: _setting(name, value, known[name].type) for name, value in given.items()}
    if chosen.get("local_epochs") is None and chosen.get("local_steps") is None:
        chosen["local_epochs"] = DEFAULT_EPOCHS
    checked = settings.Settings(**chosen)
    return {name: getattr(checked, name) for name in known}


def textual_settings() -> dict[str, Field[Any]]:
    """The declarations of the settings that can be given as text, except ``progress``."""
    declared = {name: one for name, one in settings.declarations().items() if name != "progress"}
    return {name: one for name, one in declared.items() if any(kind in _TEXTUAL for kind in _members(one.type))}


def _members(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) or (kind,)


def _setting(name: str, value: Any, kind: Any) -> Any:
    if name == "lr" and isinstance(value, Mapping):
        validation.choice("lr.schedule", value.get("schedule"), ["InverseTime"])
        if value.keys() != {"schedule", "lr0"}:
            raise ValueError(f'lr={dict(value)}: must be {{schedule = "InverseTime", lr0 = …}}')
        return schedules.from_description(dict(value))
    members = [member for member in _members(kind) if member in (*_TEXTUAL, type(None))]
    return value if callable(value) else validation.typed(name, value, functools.reduce(operator.or_, members))


def deal_of(law: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the recipe of a partition, as histories record it: its ``law``, and its given or default parameters.

    Raises ``ValueError`` for an unknown law, or an unknown or missing parameter.
    """
    accepted = _parameters_of(partition.LAWS[validation.choice("partition", law, partition.LAWS)])
    usual = DEFAULT_DEAL | ({"alpha": 0.3} if law == "dirichlet" else {})
    chosen = {name: value for name, value in usual.items() if name in accepted} | dict(given)
    return {"law": law, **_arguments(f"partition {law}", chosen, accepted)}


def federation(dataset: Dataset, recipe: Mapping[str, Any], seed: int = 0) -> FederatedDataset:
    """Partition ``dataset`` by a ``recipe``, which comes from :func:`deal_of` or, with a seed, from a run."""
    return FederatedDataset(dataset, _parts(dataset, recipe, seed))


def _parts(dataset: Dataset, recipe: Mapping[str, Any], seed: int) -> partition.Partition:
    if recipe["law"] == "shared":
        return partition.shared(_parts(dataset, recipe["parts"], seed), recipe["fraction"], seed=recipe["seed"])
    law = partition.LAWS[recipe["law"]]
    given = {name: recipe[name] for name in _parameters_of(law) if name in recipe}
    if recipe["law"] == "by_user":
        return law(dataset.users, **given)
    return law(dataset.train.y, seed=recipe.get("seed", seed), **given)


def _parameters_of(build: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found, kinds = inspect.signature(build).parameters, typing.get_type_hints(build)  # types without their checks
    own = [name for name in found if name not in ("y", "users", "fed", "seed")]
    return {name: found[name].replace(annotation=kinds[name]) for name in own}


def _arguments(owner: str, given: Mapping[str, Any], accepted: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """Check the names of ``given``, read texts as the types that are ``accepted``, and refuse missing ones."""
    validation.names(owner, given, accepted)
    for name, parameter in accepted.items():
        if name not in given and parameter.default is parameter.empty:
            raise ValueError(f"{owner} needs a value of {name}")
    return {name: validation.typed(name, value, accepted[name].annotation) for name, value in given.items()}


def model(name: str, given: Mapping[str, Any], fed: FederatedDataset, seed: int) -> nn.Module:
    """Make a built-in model that fits ``fed``; ``ValueError`` for a bad name, parameter or value."""
    build = models.MODELS[validation.choice("model", name, models.MODELS)]
    return build(fed, **_arguments(f"model {name}", given, _parameters_of(build)), seed=seed)
