"""Learning-rate schedules: callables from t = 0, 1, … (rounds done) to η_t. Every algorithm takes one as ``lr``."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from fedlab_core import validation

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class Constant:
    """η_t = lr0."""

    lr0: float

    def __post_init__(self) -> None:
        validation.real("lr", self.lr0, exclusive=True)

    def __call__(self, t: int) -> float:
        return float(self.lr0)


@dataclass(frozen=True)
class InverseTime:
    """η_t = lr0 / (1 + t), the schedule of FedSSO [004].

    Its sum grows like a logarithm: 500 rounds from 0.01 add up to 0.068, about seven rounds at the constant rate.
    """

    lr0: float

    def __post_init__(self) -> None:
        validation.real("lr0", self.lr0, exclusive=True)

    def __call__(self, t: int) -> float:
        return self.lr0 / (1 + t)


def resolve(lr: float | Schedule, rounds: int) -> Schedule:
    """``lr`` as a schedule, after checking that every one of its ``rounds`` values is finite and positive."""
    if isinstance(lr, Real) or not callable(lr):
        return Constant(lr)
    for t in range(rounds):
        validation.real(f"lr({t})", lr(t), exclusive=True)
    return lr


def describe(lr: Schedule, rounds: int) -> Any:
    """A number, or the schedule's name with its parameters, for the configuration of a run.

    Of a schedule from elsewhere the rates of all ``rounds`` are listed, since nothing else says what it does.
    """
    if isinstance(lr, Constant):
        return float(lr.lr0)
    if isinstance(lr, InverseTime):
        return {"schedule": "InverseTime", "lr0": lr.lr0}
    return {"schedule": getattr(lr, "__qualname__", type(lr).__name__), "rates": [float(lr(t)) for t in range(rounds)]}
