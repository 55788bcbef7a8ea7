"""Sliders over listed positions, and those of an explorer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slider:
    """A slider ``label`` over the numbers ``positions``, which begins at ``value``; ``tip``: its help text.

    ``moving``: the figure follows while the reader drags the slider, and not only at the release.
    """

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
    tip: str = ""
    positions: tuple[float, ...] = ()
    stored: tuple[float, ...] = ()


_MU = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_STRENGTH = (0.0, 0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 24.0)
_ALPHA = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 100.0)
_LR = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# A page stores only a few values of each setting: every value multiplies the number of runs.
SETTINGS = {
    "mu": Setting("μ of FedProx", "Proximal strength: how hard clients are held back", _MU, (0.1, 1.0, 10.0)),
    "strength": Setting("λ of the penalty", "Strength of the penalty on forgetting", _STRENGTH, stored=(0.0, 0.2, 2.0)),
    "alpha": Setting(
        "α of Dirichlet", "Small: few labels in each, or few large clients", _ALPHA, stored=(0.1, 0.3, 1.0)
    ),
    "labels": Setting("labels per client", "Distinct labels of each client", stored=(1, 2, 5)),
    "local_epochs": Setting("local epochs E", stored=(1, 5, 10)),
    "lr": Setting("learning rate η", positions=_LR),
    "rounds": Setting("rounds", positions=tuple(range(5, 201, 5))),
}
