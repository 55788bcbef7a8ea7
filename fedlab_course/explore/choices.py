"""The values of an explorer's controls: the federation, the curves to train on it, and both as code."""

import dataclasses
import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fedlab_core import models, settings, validation
from fedlab_core.data import DATASETS, FederatedDataset, load_dataset, partition
from fedlab_core.schedules import InverseTime
from fedlab_core.simulation import Simulation
from fedlab_course.explore.own import ALGORITHMS, Own

Arguments = tuple[tuple[str, Any], ...]
SPLITS = ("dirichlet", "labels_per_client", "quantity", "iid")
SCHEDULES = ("constant", "inverse_time")
_SYMBOLS = {"mu": "μ", "strength": "λ"}


@dataclass(frozen=True)
class Federation:
    """A data set dealt out by a law of ``fl.partition`` with keyword ``arguments``."""

    dataset: str
    law: str
    arguments: Arguments

    def build(self) -> FederatedDataset:
        """Deal out the data; the latest federations are cached."""
        return _deal(self)

    @property
    def code(self) -> str:
        """Two lines that define ``data`` and ``fed``."""
        parts = _call(f"fl.partition.{self.law}", self.arguments, first="data.train.y")
        return f"data = fl.load_dataset({_text(self.dataset)})\nfed = fl.FederatedDataset(data, {parts})"


@dataclass(frozen=True)
class Curve:
    """One run: an algorithm on a federation, with every setting that the run depends on.

    Equal curves are the same run, whatever their number of ``rounds``: a longer run begins with the shorter one.
    ``own``: the algorithm, if it is not one of the library.
    """

    algorithm: str
    arguments: Arguments
    federation: Federation
    model: str
    seed: int
    work: Arguments
    lr: float
    schedule: str
    rounds: int = field(compare=False)
    own: Own | None = None

    @property
    def name(self) -> str:
        """The algorithm with its parameters, such as "FedProx μ=0.1"."""
        values = [f"{_SYMBOLS.get(name, name)}={value:g}" for name, value in self.arguments]
        return " ".join([self.algorithm if self.own else title(self.algorithm), *values])

    @property
    def settings(self) -> dict[str, str]:
        """All settings but the algorithm, in the symbols of the course."""
        work, law = dict(self.work), dict(self.federation.arguments)
        split = {
            "dirichlet": f"α={law.get('alpha', 0):g}",
            "labels_per_client": f"{law.get('labels_per_client')} labels per client",
            "quantity": f"sizes α={law.get('alpha', 0):g}",
            "iid": "IID",
        }
        schedule = "" if self.schedule == "constant" else "/(1+t)"
        return {
            "data": self.federation.dataset,
            "split": split[self.federation.law],
            "N": f"N={law['num_clients']}",
            "model": self.model,
            "E": f"E={work['local_epochs']}",
            "η": f"η={self.lr:g}{schedule}",
            "K": f"K={work['clients_per_round']}",
            "B": f"B={work['batch_size']}",
            "T": f"{self.rounds} rounds",
            "seed": f"seed {self.seed}",
        }

    def differences(self, other: "Curve") -> str:
        """The settings that differ from those of ``other``, such as "E=1, η=0.1"; empty if all are equal."""
        mine, theirs = self.settings, other.settings
        return ", ".join(text for name, text in mine.items() if text != theirs[name])

    def simulation(self) -> Simulation:
        """The run, not started yet. Raises ``ValueError`` for settings that contradict each other."""
        fed = self.federation.build()
        lr = self.lr if self.schedule == "constant" else InverseTime(self.lr)
        model = models.MODELS[self.model](fed, seed=self.seed)
        make = self.own.make if self.own else ALGORITHMS[self.algorithm]
        work = {"rounds": self.rounds, **dict(self.work)}
        return Simulation(fed, model, make(**dict(self.arguments)), **work, lr=lr, seed=self.seed, progress=False)

    @property
    def code(self) -> str:
        """Python code that makes this curve as ``history``."""
        source = self.own.source if self.own else f"fl.{ALGORITHMS[self.algorithm].__name__}"
        algorithm = (self.own and self.own.expression) or _call(source, self.arguments)
        lr = _text(self.lr) if self.schedule == "constant" else f"fl.InverseTime({_text(self.lr)})"
        work = ", ".join(f"{name}={_text(value)}" for name, value in (("rounds", self.rounds), *self.work))
        simulate = f"fed, fl.models.{self.model}(fed, seed={self.seed}), {algorithm}, {work}, lr={lr}, seed={self.seed}"
        wrapped = textwrap.fill(simulate, 100, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
        return f"import fedlab_core as fl\n\n{self.federation.code}\nhistory = fl.simulate(\n{wrapped}\n)\n"


@dataclass(frozen=True)
class Choice:
    """The value of every control.

    ``algorithms``: keys of ``ALGORITHMS`` and names of ``own`` algorithms; ``mu`` μ of FedProx; ``strength`` λ of
    FedMas and FedCurv; ``split`` "dirichlet" or "quantity" (``alpha``), "labels_per_client" (``labels``) or "iid";
    ``schedule`` "constant" or "inverse_time"; ``batch_size`` None is full batch. Raises ``ValueError`` for an unknown
    name and a number out of range. Building the federation finds errors that depend on the data.
    """

    algorithms: tuple[str, ...] = ("fedavg", "fedprox")
    mu: float = 1.0
    strength: float = 0.2
    dataset: str = "digits"
    split: str = "dirichlet"
    alpha: float = 0.3
    labels: int = 2
    num_clients: int = 100
    model: str = "mlp"
    local_epochs: int = 5
    lr: float = 0.05
    schedule: str = "constant"
    clients_per_round: int = 20
    batch_size: int | None = 10
    rounds: int = 50
    seed: int = 0
    own: tuple[Own, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.algorithms, (tuple, list)):
            raise ValueError(f"algorithms={self.algorithms!r}: must be a tuple of names")
        known = (*ALGORITHMS, *(one.name for one in self.own))
        for algorithm in self.algorithms:
            validation.choice("algorithms", algorithm, known)
        names = {"dataset": DATASETS, "split": SPLITS, "model": models.MODELS, "schedule": SCHEDULES}
        for name, allowed in names.items():
            validation.choice(name, getattr(self, name), allowed)
        # In one order and in plain Python numbers: equal choices are equal, and their code can be run.
        clean: dict[str, Any] = {"algorithms": tuple(name for name in known if name in self.algorithms)}
        clean["own"] = tuple(self.own)
        for name in ("mu", "strength", "alpha", "lr"):
            clean[name] = validation.real(name, getattr(self, name), exclusive=name in ("alpha", "lr"))
        for name in ("labels", "num_clients"):
            clean[name] = validation.integer(name, getattr(self, name), minimum=1)
        for name in ("local_epochs", "rounds", "batch_size", "seed"):
            clean[name] = settings.check(name, getattr(self, name))
        clean["clients_per_round"] = validation.integer(
            "clients_per_round", self.clients_per_round, minimum=1, maximum=clean["num_clients"]
        )
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @property
    def federation(self) -> Federation:
        extra: dict[str, dict[str, Any]] = {
            "dirichlet": {"alpha": self.alpha},
            "labels_per_client": {"labels_per_client": self.labels},
            "quantity": {"alpha": self.alpha},
            "iid": {},
        }
        arguments: dict[str, Any] = {"num_clients": self.num_clients, **extra[self.split], "seed": self.seed}
        return Federation(self.dataset, self.split, tuple(arguments.items()))

    def curves(self) -> tuple[Curve, ...]:
        """One curve per algorithm, in the order of the registry; the reader's algorithms come last."""
        work = tuple((name, getattr(self, name)) for name in ("clients_per_round", "local_epochs", "batch_size"))
        own = {one.name: one for one in self.own}
        same: dict[str, Any] = {name: getattr(self, name) for name in ("federation", "model", "seed", "lr", "schedule")}
        same |= {"work": work, "rounds": self.rounds}
        return tuple(
            Curve(
                algorithm=name,
                arguments=own[name].arguments if name in own else tuple((p, getattr(self, p)) for p in tuned(name)),
                own=own.get(name),
                **same,
            )
            for name in self.algorithms
        )


def tuned(algorithm: str) -> tuple[str, ...]:
    """Which of "mu" and "strength" an algorithm takes from the controls: a required μ, and every λ."""
    kind = ALGORITHMS[algorithm]
    fields: Iterable[Any] = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    required = {field.name: field.default is dataclasses.MISSING for field in fields}
    return tuple(name for name in ("mu", "strength") if required.get(name) or (name == "strength" and name in required))


_read = lru_cache(maxsize=4)(load_dataset)


@lru_cache(maxsize=8)
def _deal(federation: Federation) -> FederatedDataset:
    data = _read(federation.dataset)
    law = getattr(partition, federation.law)
    return FederatedDataset(data, law(data.train.y, **dict(federation.arguments)))


def title(algorithm: str) -> str:
    """The name of an algorithm in text and figures."""
    return ALGORITHMS[algorithm].title or ALGORITHMS[algorithm].__name__


def _call(function: str, arguments: Arguments, first: str = "") -> str:
    given = [first] if first else []
    return f"{function}({', '.join([*given, *(f'{name}={_text(value)}' for name, value in arguments)])})"


def _text(value: Any) -> str:
    """A literal that evaluates to exactly this value."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
