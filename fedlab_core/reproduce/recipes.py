"""Make data, model, algorithm and settings from names and values or texts.

The command line, sweeps and :func:`fedlab_core.rerun` use it; everything is checked before data are
read.
"""

import functools
import inspect
import operator
import typing
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, TypeVar

from torch import nn

from fedlab_core import models, schedules, settings, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.aliases import Config, Given, Keywords
from fedlab_core.data import Dataset, FederatedDataset, partition

# for settings without a default
DEFAULT_SETTINGS = {"rounds": 50, "clients_per_round": 0.2, "batch_size": 10, "lr": 0.05}
DEFAULT_EPOCHS = 5
DEFAULT_DEAL = {"num_clients": 100}
_TEXTUAL = (bool, int, float, str)
T = TypeVar("T")


def algorithm(name: str, given: Given) -> Algorithm:
    """Make an algorithm from its name and parameters; ``ValueError`` for a bad name, parameter or
    value.

    The name is that of any imported dataclass under :class:`Algorithm`, unless a parameter is
    itself an algorithm.
    """
    known: dict[str, type[Algorithm]] = {}
    for kind in subclasses(Algorithm):
        if is_dataclass(kind) and Algorithm not in [field.type for field in fields(kind)]:
            known[kind.__name__.lower()] = kind
    kind = known[validation.choice("algorithm", name.lower(), known)]
    return kind(**_arguments(f"algorithm {name}", given, _parameters_of(kind)))


def subclasses(kind: type[T]) -> list[type[T]]:
    """All direct and indirect subclasses, the library's last, so that their names win."""
    every = list[type[T]]()
    for child in kind.__subclasses__():
        every += [child, *subclasses(child)]
    return sorted(every, key=lambda subclass: subclass.__module__.startswith("fedlab_core."))


def run_settings(given: Given) -> Keywords:
    """Check settings given as text or values, and add defaults; ``lr`` may be a table, such as
    {schedule = "InverseTime", lr0 = 0.01}. Raises ``ValueError`` for an unknown setting or a bad
    value.
    """
    known = textual_settings()
    for name in given:
        validation.choice("setting", name, known)
    read = {name: _setting(name, value, known[name].type) for name, value in given.items()}
    chosen: Keywords = DEFAULT_SETTINGS | read
    if chosen.get("local_epochs") is None and chosen.get("local_steps") is None:
        chosen["local_epochs"] = DEFAULT_EPOCHS
    checked = settings.Settings(**chosen)
    return {name: getattr(checked, name) for name in known}


def textual_settings() -> dict[str, Field[Any]]:
    """The declarations of the settings that can be given as text, except ``progress``."""
    textual = {}
    for name, declared in settings.declarations().items():
        if name != "progress" and any(kind in _TEXTUAL for kind in _members(declared.type)):
            textual[name] = declared
    return textual


def _members(kind: validation.Declared) -> tuple[validation.Declared, ...]:
    return typing.get_args(kind) or (kind,)


def _setting(name: str, value: object, kind: validation.Declared) -> object:
    """Read a setting from text, or from the table of a schedule."""
    if name == "lr" and isinstance(value, Mapping):
        validation.choice("lr.schedule", value.get("schedule"), ["InverseTime"])
        if value.keys() != {"schedule", "lr0"}:
            raise ValueError(f'lr={dict(value)}: must be {{schedule = "InverseTime", lr0 = …}}')
        return schedules.from_description(dict(value))
    if callable(value):
        return value
    members = [member for member in _members(kind) if member in (*_TEXTUAL, type(None))]
    return validation.typed(name, value, functools.reduce(operator.or_, members))


def deal_of(law: str, given: Given) -> Config:
    """Make the recipe of a partition, as histories record it: its law and all its parameters.

    Raises ``ValueError`` for an unknown law, or an unknown or missing parameter.
    """
    accepted = _parameters_of(partition.LAWS[validation.choice("partition", law, partition.LAWS)])
    usual = DEFAULT_DEAL | ({"alpha": 0.3} if law == "dirichlet" else {})
    defaults = {name: value for name, value in usual.items() if name in accepted}
    chosen = {**defaults, **given}
    return {"law": law, **_arguments(f"partition {law}", chosen, accepted)}


def federation(dataset: Dataset, recipe: Given, seed: int = 0) -> FederatedDataset:
    """Partition ``dataset`` by a ``recipe`` from :func:`deal_of` or, with a seed, from a run."""
    return FederatedDataset(dataset, _parts(dataset, recipe, seed))


def _parts(dataset: Dataset, recipe: Given, seed: int) -> partition.Partition:
    if recipe["law"] == "shared":
        parts = _parts(dataset, recipe["parts"], seed)
        return partition.shared(parts, recipe["fraction"], seed=recipe["seed"])
    law = partition.LAWS[recipe["law"]]
    given = {name: recipe[name] for name in _parameters_of(law) if name in recipe}
    if recipe["law"] == "by_user":
        return law(dataset.users, **given)
    return law(dataset.train.y, seed=recipe.get("seed", seed), **given)


def _parameters_of(build: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """The parameters that a person chooses, with their types but without the checks of these."""
    parameters = inspect.signature(build).parameters
    kinds = typing.get_type_hints(build)
    chosen = [name for name in parameters if name not in ("y", "users", "fed", "seed")]
    return {name: parameters[name].replace(annotation=kinds[name]) for name in chosen}


def _arguments(owner: str, given: Given, accepted: Mapping[str, inspect.Parameter]) -> Keywords:
    """Check the names of ``given``, read texts as the types that are ``accepted``.

    Raises ``ValueError`` for a missing parameter too.
    """
    validation.names(owner, given, accepted)
    for name, parameter in accepted.items():
        if name not in given and parameter.default is parameter.empty:
            raise ValueError(f"{owner} needs a value of {name}")
    kinds = {name: parameter.annotation for name, parameter in accepted.items()}
    return {name: validation.typed(name, value, kinds[name]) for name, value in given.items()}


def model(name: str, given: Given, fed: FederatedDataset, seed: int) -> nn.Module:
    """Make a built-in model that fits ``fed``; ``ValueError`` for a bad name or parameter."""
    build = models.MODELS[validation.choice("model", name, models.MODELS)]
    return build(fed, **_arguments(f"model {name}", given, _parameters_of(build)), seed=seed)
