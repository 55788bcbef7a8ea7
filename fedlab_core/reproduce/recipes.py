"""Experiments by name: data dealt out, a model, an algorithm and settings, from values or their texts.

The command line, sweeps and :func:`fedlab_core.rerun` all make them here, each checked before anything is read or run.
"""

import collections.abc
import functools
import inspect
import operator
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from torch import nn

from fedlab_core import models, schedules, settings, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.data import Dataset, FederatedDataset, partition

# What a person would have to give otherwise; every other setting has its own default.
DEFAULT_SETTINGS = {"rounds": 50, "clients_per_round": 0.2, "batch_size": 10, "lr": 0.05}
DEFAULT_EPOCHS = 5
DEFAULT_DEAL = {"num_clients": 100}
DEFAULT_ALPHA = 0.3
_TEXTUAL = (bool, int, float, str)


def algorithm(name: str, given: Mapping[str, Any]) -> Algorithm:
    """An algorithm from its name and its parameters; ``ValueError`` for a bad name, parameter or value.

    Every dataclass under :class:`Algorithm` that has been imported has a name here, that of its class, unless one of
    its parameters is an algorithm, which no text can say.
    """
    found: list[Any] = [kind for kind in subclasses(Algorithm) if is_dataclass(kind)]
    named = [kind for kind in found if all(field.type is not Algorithm for field in fields(kind))]
    known = {kind.__name__.lower(): kind for kind in named}
    kind = known[validation.choice("algorithm", name.lower(), known)]
    declared = {field.name: field for field in fields(kind) if field.init}
    for key in given:
        validation.choice(f"parameter of {name}", key, declared)
    for key, field in declared.items():
        if key not in given and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"algorithm {name} needs a value of {key}")
    kinds = typing.get_type_hints(kind)
    return kind(**{key: validation.typed(key, value, kinds[key]) for key, value in given.items()})


def subclasses(kind: type[Any]) -> list[type[Any]]:
    """All subclasses, those of subclasses too; those of the library last, so that by name they win."""
    direct: list[type[Any]] = kind.__subclasses__()
    every = [found for child in direct for found in (child, *subclasses(child))]
    return sorted(every, key=lambda found: found.__module__.startswith("fedlab_core."))


def run_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings that can be written as text, checked, in their final form; ``lr`` may be a table, such as
    {schedule = "InverseTime", lr0 = 0.01}. Raises ``ValueError`` for an unknown one, or a value that no run can have.
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
    """The declarations of the settings that can be given as text, but for ``progress``."""
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
    """The recipe of a partition: its ``law`` and all that is given or usual, under the names that histories record.

    Raises ``ValueError`` for an unknown law, a parameter that it does not have, or one that it needs.
    """
    accepted = _parameters_of(partition.LAWS[validation.choice("partition", law, partition.LAWS)], law)
    usual = DEFAULT_DEAL | ({"alpha": DEFAULT_ALPHA} if law == "dirichlet" else {})
    for name in given:
        validation.choice(f"parameter of {law}", name, accepted)
    chosen = {name: value for name, value in usual.items() if name in accepted} | dict(given)
    for name, parameter in accepted.items():
        if name not in chosen and parameter.default is parameter.empty:
            raise ValueError(f"partition {law} needs a value of {name}")
    typed = {name: validation.typed(name, value, accepted[name].annotation) for name, value in chosen.items()}
    return {"law": law, **typed}


def federation(dataset: Dataset, recipe: Mapping[str, Any], seed: int = 0) -> FederatedDataset:
    """``dataset`` dealt out by a ``recipe`` as :func:`deal_of` and the configuration of a run have it."""
    return FederatedDataset(dataset, _parts(dataset, recipe, seed))


def first_law(recipe: Mapping[str, Any]) -> str:
    """The law that dealt the data out, before any were shared."""
    return first_law(recipe["parts"]) if recipe["law"] == "shared" else recipe["law"]


def _parts(dataset: Dataset, recipe: Mapping[str, Any], seed: int) -> partition.Partition:
    if recipe["law"] == "shared":
        own, dealt = {name: recipe[name] for name in ("fraction", "portion", "seed")}, recipe["parts"]
        return partition.shared(_parts(dataset, dealt, dealt.get("seed", 0)), **own)
    law = partition.LAWS[recipe["law"]]
    taken = _parameters_of(law, recipe["law"])
    given = {("law" if name == "sizes" else name): value for name, value in recipe.items() if name in taken}
    if recipe["law"] != "by_user":
        return law(dataset.train.y, seed=seed, **given)
    if dataset.users is None:
        raise ValueError(f"partition by_user: the data set {dataset.name} has no users")
    return law(dataset.users, **given)


def _parameters_of(law: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    """What may be chosen; quantity's own "law" is called "sizes", since a recipe names its law."""
    found = inspect.signature(law).parameters
    chosen = {key: found[key] for key in found if key not in ("y", "users", "seed")}
    return {("sizes" if key == "law" else key): parameter for key, parameter in chosen.items()}


def model(name: str, given: Mapping[str, Any], fed: FederatedDataset, seed: int) -> nn.Module:
    """A built-in model that fits ``fed``; ``ValueError`` for a bad name, parameter or value."""
    build = models.MODELS[validation.choice("model", name, models.MODELS)]
    kinds = {key: kind for key, kind in typing.get_type_hints(build).items() if key not in ("fed", "seed", "return")}
    for key in given:
        validation.choice(f"parameter of {name}", key, kinds)
    chosen = {key: validation.typed(key, value, _as_list(kinds[key])) for key, value in given.items()}
    return build(fed, **chosen, seed=seed)


def _as_list(kind: Any) -> Any:
    """A sequence can only be written as a list."""
    is_sequence = typing.get_origin(kind) is collections.abc.Sequence
    return list[typing.get_args(kind)[0]] if is_sequence else kind  # type: ignore[misc]
