"""The one form that every local step takes."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Correction:
    """A corrected gradient g + weight ⊙ (y − anchor) + offset, element by element, at the local parameters y.

    ``weight`` a: a number, or a tensor [P]. ``anchor`` r: a tensor [P], or None for 0. ``offset`` d: a tensor [P],
    or None for 0. P is the number of parameters. Every algorithm of this library corrects its local gradient in
    this form: FedProx has a = μ and r = w, the global parameters; SCAFFOLD has d = c − c_k.
    """

    weight: float | torch.Tensor = 0.0
    anchor: torch.Tensor | None = None
    offset: torch.Tensor | None = None

    @property
    def is_zero(self) -> bool:
        """True if the gradient is left as it is."""
        return self.offset is None and isinstance(self.weight, (int, float)) and self.weight == 0.0

    def added_to(self, gradient: torch.Tensor, params: torch.Tensor) -> torch.Tensor:
        """The corrected gradient [P] at the local parameters ``params`` [P]."""
        if isinstance(self.weight, torch.Tensor) or self.weight != 0.0:
            distance = params if self.anchor is None else params - self.anchor
            gradient = gradient + self.weight * distance
        return gradient if self.offset is None else gradient + self.offset
