"""Clients with quadratic losses, where every picture can be checked by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Quadratics:
    """f_k(w) = ½ Σ_d a_kd (w_d − b_kd)² for N equal clients: curvatures ``a`` [N, D] > 0, minima ``b`` [N, D]."""

    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(
        cls, a: Sequence[float] | Sequence[Sequence[float]], b: Sequence[float] | Sequence[Sequence[float]]
    ) -> "Quadratics":
        """From numbers [N] or [N, D]. Raises ``ValueError`` for different shapes or a_kd ≤ 0."""
        curvature, minimum = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        if curvature.shape != minimum.shape or curvature.ndim not in (1, 2) or not curvature.size:
            raise ValueError(
                f"a, b: must be two arrays [N] or [N, D] of one shape, got {list(curvature.shape)} and "
                f"{list(minimum.shape)}"
            )
        if not (curvature > 0).all():
            raise ValueError(f"a={curvature.tolist()}: must be > 0")
        return cls(curvature.reshape(len(curvature), -1), minimum.reshape(len(minimum), -1))

    @property
    def optimum(self) -> np.ndarray:
        """w* [D], where F = mean of f_k is lowest."""
        return (self.a * self.b).sum(0) / self.a.sum(0)

    def loss(self, w: np.ndarray) -> np.ndarray:
        """f_k at the points ``w`` [..., D], as [N, ...]."""
        a, b = (array.reshape(len(array), *[1] * (w.ndim - 1), -1) for array in (self.a, self.b))
        return 0.5 * (a * (w - b) ** 2).sum(-1)

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """∇f_k(y_k) [N, D]; ``y`` is one point [D] or one per client [N, D]."""
        return self.a * (y - self.b)

    def walk(self, start: np.ndarray, steps: int, lr: float, offset: np.ndarray | float = 0.0) -> np.ndarray:
        """The points y_k [steps + 1, N, D] of every client's local steps y ← y − η(∇f_k(y) + offset_k)."""
        y = np.broadcast_to(start, self.b.shape)
        points = [y]
        for _ in range(steps):
            y = y - lr * (self.gradient(y) + offset)
            points.append(y)
        return np.stack(points)

    def nearest(self, w: np.ndarray, mu: float) -> np.ndarray:
        """argmin f_k(y) + μ/2 ‖y − w‖² [N, D]: where clients that solve FedProx's problem exactly end."""
        return (self.a * self.b + mu * w) / (self.a + mu)


def rest(one_round: Callable[[np.ndarray], np.ndarray], dim: int) -> np.ndarray:
    """The point [D] that ``one_round`` leaves where it is; a round on quadratics maps w to M w + m.

    Raises ``ValueError`` if rounds lead away from it.
    """
    shift = one_round(np.zeros(dim))
    matrix = np.stack([one_round(axis) - shift for axis in np.eye(dim)], axis=1)
    if np.abs(np.linalg.eigvals(matrix)).max() >= 1:
        raise ValueError("lr: local steps diverge, because η times the largest curvature is not below 2; lower it")
    return np.linalg.solve(np.eye(dim) - matrix, shift)
