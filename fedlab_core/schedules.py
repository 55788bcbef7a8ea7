"""Learning-rate schedules: functions from t = 0, 1, … (rounds done) to η_t.

Every algorithm takes one as ``lr``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedlab_core import validation
from fedlab_core.aliases import Config

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class InverseTime:
    """η_t = lr0 / (1 + t), the schedule of FedSSO [004]."""

    lr0: float

    def __post_init__(self) -> None:
        validation.real("lr0", self.lr0, exclusive=True)

    def __call__(self, t: int) -> float:
        return self.lr0 / (1 + t)


def rates(lr: float | Schedule, rounds: int) -> list[float]:
    """η of each round. Raises ``ValueError`` for a rate that is not finite and positive."""
    if not callable(lr):
        return [validation.real("lr", lr, exclusive=True)] * rounds
    return [validation.real(f"lr({t})", lr(t), exclusive=True) for t in range(rounds)]


def describe(lr: float | Schedule, rates: Sequence[float]) -> float | Config:
    """Describe ``lr`` as JSON: a number, or a schedule by its name.

    Of a user's schedule, all ``rates`` are listed.
    """
    if not callable(lr):
        return float(lr)
    if isinstance(lr, InverseTime):
        return {"schedule": "InverseTime", "lr0": lr.lr0}
    return {"schedule": getattr(lr, "__qualname__", type(lr).__name__), "rates": list(rates)}


def from_description(description: float | Config) -> float | Schedule:
    """Make the rate or schedule that :func:`describe` described."""
    if not isinstance(description, dict):
        return float(description)
    if description["schedule"] == "InverseTime":
        return InverseTime(description["lr0"])

    rates: list[float] = description["rates"]

    def recorded(t: int) -> float:
        return rates[t]

    recorded.__qualname__ = description["schedule"]
    return recorded
