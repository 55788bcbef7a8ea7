"""The values of an explorer's controls: the federation, the curves to train on it, and both as
code.
"""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from fedlab_core import algorithms, models, validation
from fedlab_core.correction import PenaltyStep
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset, partition
from fedlab_core.simulation import Simulation
from fedlab_course.catalogue.parameters import PARAMETERS, of_method
from fedlab_course.catalogue.splits import SPLITS

# The parameters of algorithms that have a control; the others keep the library's defaults.
TUNED = ("mu", "strength", "penalty_step")
_FIRST: dict[str, Any] = {name: one.default for name, one in PARAMETERS.items()}
Arguments = tuple[tuple[str, Any], ...]
# The algorithms of the chapters; those of the gallery have parameters without a control.
_NAMES = ("fedavg", "fedprox", "scaffold", "fednova", "fedcurv", "fedsso", "fedmas")
ALGORITHMS = {name: algorithms.ALGORITHMS[name] for name in _NAMES}
_SETTINGS = ("clients_per_round", "local_epochs", "batch_size", "lr", "seed")
_load = lru_cache(maxsize=4)(load_dataset)


@dataclass(frozen=True)
class Method:
    """An algorithm of the library or of the reader, with numbers for its parameters.

    ``make``: a class or a function that returns an instance for ``arguments``, name → number. In
    code ``source`` is the name of ``make``, or ``expression`` makes the instance.
    """

    name: str
    make: Callable[..., Any]
    arguments: Arguments
    source: str = ""
    expression: str = ""


@dataclass(frozen=True)
class Federation:
    """A data set split by a law of ``fl.partition``."""

    dataset: str
    law: str
    arguments: Arguments

    @lru_cache(maxsize=8)  # noqa: B019
    def build(self) -> FederatedDataset:
        """The federated data."""
        data = _load(self.dataset)
        law = getattr(partition, self.law)
        return FederatedDataset(data, law(data.train.y, **dict(self.arguments)))

    @property
    def code(self) -> str:
        """Two lines that define ``data`` and ``fed``."""
        parts = f"fl.partition.{self.law}(data.train.y, {_keywords(self.arguments)})"
        return f'data = fl.load_dataset("{self.dataset}")\nfed = fl.FederatedDataset(data, {parts})'


@dataclass(frozen=True)
class Curve:
    """One run, with all ``settings`` of ``fl.simulate``. Equal curves are the same run, whatever
    their ``rounds``.
    """

    algorithm: Method
    federation: Federation
    model: str
    settings: Arguments
    rounds: int = field(compare=False)

    @property
    def name(self) -> str:
        """The algorithm with its parameters, such as "FedProx μ=0.1"."""
        values = (_written(name, value) for name, value in self.algorithm.arguments)
        return " ".join([self.algorithm.name, *values])

    def differences(self, other: "Curve") -> str:
        """The settings that differ from those of ``other``, such as "E=1, η=0.1"; empty if all are
        equal.
        """
        pairs = zip(self._in_symbols(), other._in_symbols(), strict=True)
        return ", ".join(mine for mine, theirs in pairs if mine != theirs)

    def _in_symbols(self) -> list[str]:
        """All settings but the algorithm, in the symbols of the course."""
        federation = self.federation
        arguments = dict(federation.arguments)
        given = {**arguments, **dict(self.settings), "rounds": self.rounds}
        named = ("num_clients", *_SETTINGS, "rounds")
        written = [PARAMETERS[name].written(given[name]) for name in named]
        split = SPLITS[federation.law].written(arguments)
        return [federation.dataset, split, self.model, *written]

    def simulation(self, before: Simulation | None = None) -> Simulation:
        """The run, not started yet, or going on from ``before``, a simulation of an equal curve.

        Raises ``ValueError`` for settings that contradict each other.
        """
        fed = self.federation.build()
        settings = dict(self.settings)
        model = models.MODELS[self.model](fed, seed=settings["seed"])
        algorithm = self.algorithm.make(**dict(self.algorithm.arguments))
        simulation = Simulation(
            fed, model, algorithm, rounds=self.rounds, **settings, progress=False
        )
        if before is not None:
            simulation.load_state_dict(before.compact_state())
        return simulation

    @property
    def code(self) -> str:
        """A call of ``fl.simulate`` on ``fed`` that makes this curve."""
        algorithm = (
            self.algorithm.expression
            or f"{self.algorithm.source}({_keywords(self.algorithm.arguments)})"
        )
        model = f"fl.models.{self.model}(fed, seed={dict(self.settings)['seed']})"
        given = f"fed, {model}, {algorithm}, rounds={self.rounds}, {_keywords(self.settings)}"
        wrapped = textwrap.fill(
            given, 100, initial_indent="    ", subsequent_indent="    ", break_long_words=False
        )
        return f"fl.simulate(\n{wrapped}\n)\n"


@dataclass(frozen=True)
class Choice:
    """The value of every control.

    ``algorithms``: keys of ``ALGORITHMS`` and names of ``own`` algorithms; ``split``: a key of
    ``SPLITS``; ``batch_size`` None is full batch. The other fields are parameters of the catalogue.
    Raises ``ValueError`` for an unknown name.
    """

    algorithms: tuple[str, ...] = ("fedavg", "fedprox")
    mu: float = _FIRST["mu"]
    strength: float = _FIRST["strength"]
    penalty_step: PenaltyStep = _FIRST["penalty_step"]
    dataset: str = "digits"
    split: str = "dirichlet"
    alpha: float = _FIRST["alpha"]
    labels: int = _FIRST["labels"]
    num_clients: int = _FIRST["num_clients"]
    model: str = "mlp"
    local_epochs: int = _FIRST["local_epochs"]
    lr: float = _FIRST["lr"]
    clients_per_round: int = _FIRST["clients_per_round"]
    batch_size: int | None = _FIRST["batch_size"]
    rounds: int = _FIRST["rounds"]
    seed: int = _FIRST["seed"]
    own: tuple[Method, ...] = ()

    def __post_init__(self) -> None:
        known = (*ALGORITHMS, *(one.name for one in self.own))
        for algorithm in self.algorithms:
            validation.choice("algorithms", algorithm, known)
        steps = PARAMETERS["penalty_step"].values
        names = {
            "dataset": DATASETS,
            "split": SPLITS,
            "model": models.MODELS,
            "penalty_step": steps,
        }
        for name, allowed in names.items():
            validation.choice(name, getattr(self, name), allowed)
        # One order and plain Python numbers: equal choices are equal, and their code can be run.
        clean = {
            name: value.item()
            for name, value in vars(self).items()
            if isinstance(value, np.generic)
        }
        clean |= {
            "algorithms": tuple(name for name in known if name in self.algorithms),
            "own": tuple(self.own),
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @property
    def federation(self) -> Federation:
        shape = SPLITS[self.split].arguments(vars(self))
        arguments = {"num_clients": self.num_clients, **shape, "seed": self.seed}
        return Federation(self.dataset, self.split, tuple(arguments.items()))

    def _set(self, algorithm: str) -> tuple[str, ...]:
        """The parameters to pass to an algorithm; the explicit step is the library's default."""
        is_explicit = self.penalty_step == PARAMETERS["penalty_step"].default
        return tuple(name for name in tuned(algorithm) if name != "penalty_step" or not is_explicit)

    def curves(self) -> tuple[Curve, ...]:
        """One curve per algorithm, in the order of the registry;
        the reader's algorithms come last.
        """
        settings = tuple((name, getattr(self, name)) for name in _SETTINGS)
        methods = {one.name: one for one in self.own}
        for key, make in ALGORITHMS.items():
            arguments = tuple((name, getattr(self, name)) for name in self._set(key))
            methods[key] = Method(title(key), make, arguments, f"fl.{make.__name__}")
        return tuple(
            Curve(methods[name], self.federation, self.model, settings, self.rounds)
            for name in self.algorithms
        )


def tuned(algorithm: str) -> tuple[str, ...]:
    """The names of the controls that set parameters of an algorithm, such as "mu"."""
    return tuple(name for name in of_method(algorithm) if name in TUNED)


def _written(name: str, value: Any) -> str:
    """A parameter of the library's algorithms or of the reader's with its value."""
    return PARAMETERS[name].written(value) if name in TUNED else f"{name}={value:g}"


def owned(makers: Any) -> tuple[Method, ...]:
    """The algorithms of a reader, from one class, function or :class:`Method`, or a list of them.

    Raises ``ValueError`` for an object without a name, a parameter without a default, and a name
    that is taken.
    """
    listed = makers if isinstance(makers, (list, tuple)) else [makers]
    found = tuple(make if isinstance(make, Method) else _own(make) for make in listed)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ValueError(f"own={names}: must have different names; rename one")
    return found


def _own(make: Any) -> Method:
    function = getattr(make, "func", make)  # of functools.partial
    source = getattr(function, "__name__", "")
    if not callable(make) or not source.isidentifier():
        raise ValueError(
            f"own={make!r}: must be a class, or a function with a name, that returns an Algorithm"
        )
    name = getattr(function, "title", "") or source
    if name.lower() in ALGORITHMS:
        raise ValueError(
            f"own={source}: must have another name than the library's algorithms; rename it"
        )
    numbers: dict[str, float] = {}
    for key, parameter in inspect.signature(make).parameters.items():
        value = parameter.default
        if value is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ValueError(
                f"own={source}: its parameter {key} has no default; give it one, or pass "
                f"functools.partial({source}, {key}=…)"
            )
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers[key] = value
    return Method(name, make, tuple(numbers.items()), source)


def title(algorithm: str) -> str:
    """The name of an algorithm in text and figures."""
    return ALGORITHMS[algorithm].title or ALGORITHMS[algorithm].__name__


def _keywords(arguments: Arguments) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments)
