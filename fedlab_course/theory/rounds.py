"""FedAvg with exact gradients on one-dimensional quadratics, round by round in closed form, at any learning rates."""

from collections.abc import Sequence

import numpy as np

from fedlab_core import validation


def fedavg_path(
    a: Sequence[float], b: Sequence[float], rates: Sequence[float] | np.ndarray, local_steps: int, start: float = 0.0
) -> np.ndarray:
    """w after 0, 1, … rounds, [R + 1], on f_k(w) = a_k/2 (w − b_k)² of equal weight; ``rates``: η of each round [R].

    τ = ``local_steps`` at the rate η take client k from w to b_k + q_k (w − b_k), q_k = (1 − ηa_k)^τ, and the server
    takes the mean. Raises ``ValueError`` for a and b of different lengths, and rates that are not positive.
    """
    curvature, minimum = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if curvature.shape != minimum.shape or curvature.ndim != 1 or not curvature.size:
        raise ValueError(f"a, b: must have one number per client each, got {curvature.shape} and {minimum.shape}")
    validation.integer("local_steps", local_steps, minimum=1)
    eta = np.asarray(rates, dtype=float)
    if not (eta > 0).all():
        raise ValueError(f"rates={eta.tolist()}: must be positive")
    left = (1 - eta[:, None] * curvature) ** local_steps
    keep, shift = left.mean(axis=1), ((1 - left) * minimum).mean(axis=1)
    path = [float(start)]
    for q, m in zip(keep.tolist(), shift.tolist(), strict=True):
        path.append(q * path[-1] + m)
    return np.array(path)
