"""(G, B)-dissimilarity of clients' gradients (Karimireddy et al. 2020, assumption A1), from gradients at points.

    Σ ρ_k ‖∇F_k(w)‖² ≤ G² + B² ‖∇F(w)‖²   for all w

What is computed here holds at the points that were looked at; the G and B of the assumption are at least as large.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core import validation


@dataclass(frozen=True)
class Dissimilarity:
    """At each of M points: ``spread`` [M], Σ ρ_k ‖∇F_k‖², and ``whole`` [M], ‖∇F‖²; spread ≥ whole, by Jensen."""

    spread: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, gradients: Sequence[torch.Tensor], weights: np.ndarray) -> "Dissimilarity":
        """From the clients' gradients [N, P] at each point, and their weights ρ [N]."""
        rho = torch.from_numpy(np.asarray(weights, dtype=np.float64))
        pairs = [(float(rho @ g.double().square().sum(1)), float((rho @ g.double()).square().sum())) for g in gradients]
        spread, whole = np.array(pairs).reshape(-1, 2).T
        return cls(spread, whole)

    def least_gradient(self, factor: float = 1.0) -> float:
        """The least G with which the inequality holds at all points for B = ``factor`` ≥ 0."""
        validation.real("factor", factor)
        return float(np.sqrt(np.maximum(self.spread - factor**2 * self.whole, 0).max()))

    def least_factor(self, gradient: float) -> float:
        """The least B for G = ``gradient`` ≥ 0; infinite if a point with ‖∇F‖ = 0 has more than G²."""
        validation.real("gradient", gradient)
        left = np.maximum(self.spread - gradient**2, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(left > 0, left / self.whole, 0.0)
        return float(np.sqrt(ratios.max()))
