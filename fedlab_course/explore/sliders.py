"""Sliders over listed positions, and those of an explorer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fedlab_core import settings


@dataclass(frozen=True)
class Slider:
    """A slider over ``positions``, which begins at ``value``; ``moving``: the figure follows while it is dragged."""

    label: str
    positions: tuple[Any, ...]
    value: Any
    tip: str = ""
    moving: bool = True

    @classmethod
    def over(cls, label: str, positions: Iterable[Any], value: Any, tip: str = "", *, moving: bool = True) -> "Slider":
        """Sort ``positions``, and add ``value`` to them."""
        return cls(label, tuple(sorted({*positions, value})), value, tip, moving)

    @property
    def texts(self) -> list[str]:
        """The positions as a reader sees them."""
        return [f"{number:g}" for number in self.positions]


@dataclass(frozen=True)
class Setting:
    """A setting of an explorer: label, help text, the positions of its slider, and the positions stored on a page."""

    label: str
    tip: str
    positions: tuple[float, ...] = ()
    stored: tuple[float, ...] = ()


# A page stores only a few values of a setting: every value multiplies the number of runs.
SETTINGS = {
    "mu": Setting(
        "μ of FedProx",
        "Proximal strength: how hard clients are held back",
        (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
        stored=(0.1, 1.0, 10.0),
    ),
    "strength": Setting(
        "λ of the penalty",
        "Strength of the penalty on forgetting",
        (0.0, 0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 24.0),
        stored=(0.0, 0.2, 2.0),
    ),
    "alpha": Setting(
        "α of Dirichlet",
        "Small: few labels in each, or few large clients",
        (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 100.0),
        stored=(0.1, 0.3, 1.0),
    ),
    "labels": Setting("labels per client", "Distinct labels of each client", tuple(range(1, 11)), stored=(1, 2, 5)),
    "clients_per_round": Setting("clients a round K", "Out of all N clients"),
    "local_epochs": Setting("local epochs E", settings.meaning("local_epochs"), tuple(range(1, 21)), stored=(1, 5, 10)),
    "lr": Setting(
        "learning rate η", settings.meaning("lr"), (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    ),
    "rounds": Setting("rounds", settings.meaning("rounds"), tuple(range(5, 201, 5))),
}
