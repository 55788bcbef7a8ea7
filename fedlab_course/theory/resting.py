"""Where a federation of one-dimensional quadratics comes to rest when its clients make unequal numbers of steps."""

from typing import Any

import numpy as np

from fedlab_core import validation


def covered(a: Any, steps: Any, lr: float, mu: float = 0.0) -> np.ndarray:
    """s_k, the part of the way from w to b_k that ``steps`` τ_k local steps of FedProx cover, float64 [N].

    F_k(y) = a_k/2 (y − b_k)² with curvatures ``a`` [N] > 0, full batches:
    s_k = a_k/(a_k + μ) · (1 − (1 − η (a_k + μ))^τ_k). Raises ``ValueError`` where steps diverge, η (a_k + μ) ≥ 2.
    """
    curvature, taken = np.asarray(a, dtype=float), np.asarray(steps)
    pull = lr * (curvature + validation.real("mu", mu))
    if (pull >= 2).any():
        raise ValueError(f"lr={lr:g}: local steps diverge with mu={mu:g}, lr·(a_k + mu) must be < 2; lower one of them")
    found: np.ndarray = curvature / (curvature + mu) * (1 - (1 - pull) ** taken)
    return found


def resting_point(
    a: Any, b: Any, steps: Any, lr: float, mu: float = 0.0, *, weights: Any = None, normalised: bool = False
) -> float:
    """w^∞ = Σ ρ_k s_k b_k / Σ ρ_k s_k, where rounds of all clients lead; ``b`` [N]; ``weights`` ρ_k, equal if None.

    ``normalised``: by FedNova's rule s_k/‖a_k‖₁ takes the place of s_k, with ‖a_k‖₁ = τ_k, or with a spring
    (1 − (1 − ημ)^τ_k)/(ημ) (Wang et al. 2020). Raises ``ValueError`` as :func:`covered` does.
    """
    parts = covered(a, steps, lr, mu) * (1.0 if weights is None else np.asarray(weights, dtype=float))
    if normalised:
        taken, shrink = np.asarray(steps), lr * mu
        parts = parts / ((1 - (1 - shrink) ** taken) / shrink if shrink else taken)
    return float(parts @ np.asarray(b, dtype=float) / parts.sum())
