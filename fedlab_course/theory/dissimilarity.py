"""(G, B)-dissimilarity of clients' gradients (Karimireddy et al. 2020, assumption A1), from gradients at points.

    Σ ρ_k ‖∇F_k(w)‖² ≤ G² + B² ‖∇F(w)‖²   for all w

The numbers here hold at the points that were looked at; the G and B of the assumption are at least as large.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch


class Dissimilarity(NamedTuple):
    """At each of M points: ``spread`` [M], Σ ρ_k ‖∇F_k‖², and ``whole`` [M], ‖∇F‖²; spread ≥ whole, by Jensen."""

    spread: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, gradients: Sequence[torch.Tensor], weights: np.ndarray) -> "Dissimilarity":
        """From the clients' gradients [N, P] at each point, and their weights ρ [N]."""
        rho = torch.from_numpy(np.asarray(weights, dtype=np.float64))
        pairs = [(float(rho @ g.double().square().sum(1)), float((rho @ g.double()).square().sum())) for g in gradients]
        return cls(*np.array(pairs).T)

    def least_gradient(self) -> float:
        """The least G with which the inequality holds at all points for B = 1."""
        return float(np.sqrt(np.maximum(self.spread - self.whole, 0).max()))
