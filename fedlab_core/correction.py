"""The corrected local step, the form of every local update."""

from dataclasses import dataclass
from typing import Literal

import torch


@dataclass(frozen=True)
class Correction:
    """A local step v ← m v + g + a ⊙ (y − r) + d, y ← y − η s ⊙ v from y = ``start``, element by
    element.

    g is the gradient at the local parameters y, η the rate of the round; v is zero at the start of
    a round. P is the number of parameters. FedProx has a = μ and r = w, the global parameters;
    SCAFFOLD has d = c − c_k. The defaults give the plain step y ← y − η g from y = w.

    ``weight`` a: a number, or a tensor [P]. ``anchor`` r: a tensor [P], or None for 0. ``offset``
    d: a tensor [P], or None for 0. ``start``: a tensor [P], or None for w. ``scale`` s: a number,
    or a tensor [P]; where it is 0, the parameters do not change. ``momentum`` m in [0, 1): None is
    the run's ``local_momentum``. ``amount``: epochs or steps, whichever the run counts; None is the
    run's own number.

    The server also takes NumPy arrays, other float types, and a number as anchor or offset.
    """

    weight: float | torch.Tensor = 0.0
    anchor: torch.Tensor | None = None
    offset: torch.Tensor | None = None
    start: torch.Tensor | None = None
    scale: float | torch.Tensor = 1.0
    momentum: float | None = None
    amount: int | None = None

    def direction(
        self, gradient: torch.Tensor, params: torch.Tensor, last: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute s ⊙ v [P], which η multiplies, at the local parameters ``params`` [P]; ``last``:
        the step before.
        """
        if isinstance(self.weight, torch.Tensor) or self.weight != 0.0:
            distance = params if self.anchor is None else params - self.anchor
            gradient = gradient + self.weight * distance
        if self.offset is not None:
            gradient = gradient + self.offset
        if isinstance(self.scale, torch.Tensor) or self.scale != 1.0:
            gradient = self.scale * gradient
        return self.momentum * last + gradient if self.momentum and last is not None else gradient


PLAIN = Correction()
PenaltyStep = Literal["explicit", "implicit"]


def implicit_scale(weight: torch.Tensor, lr: float) -> torch.Tensor:
    """Compute s = 1 / (1 + η a) [P], with which the term a ⊙ (y − r) is taken at the new y, not at
    the old one.

    Then y⁺ = y − η (g + d + a ⊙ (y⁺ − r)) = (y − η (g + d) + η a ⊙ r) / (1 + η a): an implicit
    (proximal) step. It has the resting points of the explicit step, s = 1. The explicit step
    diverges for η a > 2; this one is stable for every a ≥ 0.
    """
    return 1 / (1 + lr * weight)
