"""The one form that every local step takes."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Correction:
    """A local step v ← m v + g + a ⊙ (y − r) + d, y ← y − η s ⊙ v from y = ``start``, element by element.

    g is the gradient at the local parameters y, η the rate of the round; v is zero when a round begins. P is the number
    of parameters. Every algorithm of this library trains its clients in this form: FedProx has a = μ and r = w, the
    global parameters; SCAFFOLD has d = c − c_k. What is left out makes it the plain step y ← y − η g from y = w.

    ``weight`` a: a number, or a tensor [P]. ``anchor`` r: a tensor [P], or None for 0. ``offset`` d: a tensor [P], or
    None for 0. ``start``: a tensor [P], or None for w. ``scale`` s: a number, or a tensor [P]; where it is 0, the
    client leaves its parameters as they are. ``momentum`` m in [0, 1): None is the run's ``local_momentum``.
    ``amount``: how many epochs or steps, whichever the run counts; None is what the run asks of this client.
    """

    weight: float | torch.Tensor = 0.0
    anchor: torch.Tensor | None = None
    offset: torch.Tensor | None = None
    start: torch.Tensor | None = None
    scale: float | torch.Tensor = 1.0
    momentum: float | None = None
    amount: int | None = None

    def direction(self, gradient: torch.Tensor, params: torch.Tensor, last: torch.Tensor | None = None) -> torch.Tensor:
        """s ⊙ v [P], the step that η multiplies, at the local parameters ``params`` [P]; ``last``: that of before."""
        if isinstance(self.weight, torch.Tensor) or self.weight != 0.0:
            distance = params if self.anchor is None else params - self.anchor
            gradient = gradient + self.weight * distance
        if self.offset is not None:
            gradient = gradient + self.offset
        if isinstance(self.scale, torch.Tensor) or self.scale != 1.0:
            gradient = self.scale * gradient
        return self.momentum * last + gradient if self.momentum and last is not None else gradient


PLAIN = Correction()
