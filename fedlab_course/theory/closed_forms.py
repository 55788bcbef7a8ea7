"""Closed forms on one-dimensional quadratics f_k(w) = a_k/2 (w − b_k)², with exact gradients.

Nothing is trained here; :func:`fedlab_core.data.synthetic.quadratics` makes the federation with
these losses.
"""

from typing import Any

import numpy as np

from fedlab_core import validation


def covered(a: Any, steps: Any, lr: float, mu: float = 0.0) -> np.ndarray:
    """s_k, the part of the way from w to b_k that ``steps`` τ_k local steps of FedProx cover,
    float64 [N].

    With curvatures ``a`` [N] > 0: s_k = a_k/(a_k + μ) · (1 − (1 − η (a_k + μ))^τ_k). Raises
    ``ValueError`` where steps diverge, η (a_k + μ) ≥ 2.
    """
    curvature = np.asarray(a, dtype=float)
    pull = lr * (curvature + validation.real("mu", mu))
    if (pull >= 2).any():
        raise ValueError(
            f"lr={lr:g}: local steps diverge with mu={mu:g}, lr·(a_k + mu) must be < 2; lower one "
            "of them"
        )
    shares: np.ndarray = curvature / (curvature + mu) * (1 - (1 - pull) ** np.asarray(steps))
    return shares


def resting_point(
    a: Any,
    b: Any,
    steps: Any,
    lr: float,
    mu: float = 0.0,
    *,
    weights: Any = None,
    divisors: Any = 1.0,
) -> float:
    """w^∞ = Σ ρ_k s_k b_k / Σ ρ_k s_k, where rounds of all clients lead; ``b`` [N]; ``weights``
    ρ_k, equal if None.

    ``divisors``: what each client's move is divided by before the mean, [N]. FedNova divides by
    τ_k, or with a proximal term by (1 − (1 − ημ)^τ_k)/(ημ) (Wang et al. 2020). Raises
    ``ValueError`` as :func:`covered` does.
    """
    parts = covered(a, steps, lr, mu) / np.asarray(divisors, dtype=float)
    if weights is not None:
        parts = parts * np.asarray(weights, dtype=float)
    return float(parts @ np.asarray(b, dtype=float) / parts.sum())


def fedavg_path(a: Any, b: Any, rates: Any, local_steps: int, start: float = 0.0) -> np.ndarray:
    """w of FedAvg after 0, 1, … rounds of all clients, equally weighted, [R + 1]; ``rates``: η of
    each round [R].

    τ = ``local_steps`` at the rate η take client k from w to b_k + q_k (w − b_k), q_k = (1 −
    ηa_k)^τ, and the server takes the mean.
    """
    left = (1 - np.asarray(rates, dtype=float)[:, None] * np.asarray(a, dtype=float)) ** local_steps
    path = [float(start)]
    for q, m in zip(
        left.mean(axis=1).tolist(), ((1 - left) * np.asarray(b)).mean(axis=1).tolist(), strict=True
    ):
        path.append(q * path[-1] + m)
    return np.array(path)


def ditto_error(
    strength: Any, chance: float, spread: float, num_clients: float = np.inf
) -> tuple[Any, Any]:
    """The mean squared error of z_k = (b_k + λ w*)/(1 + λ), in two parts: from few samples, and
    from the pull.

    Client k aims at its true optimum, of variance ``spread`` V between clients, and knows b_k,
    which misses it with the variance ``chance`` ν; w* is the mean of all b_k. With q = λ/(1 + λ)
    and N clients the parts are (1 − 1/N) (1 − q)² ν + ν/N and (1 − 1/N) q² V. ``strength`` λ:
    numbers; infinity is one model for all.
    """
    q = 1 - 1 / (1 + np.asarray(strength, dtype=float))
    share = 1 - 1 / num_clients
    return share * (1 - q) ** 2 * chance + chance / num_clients, share * q**2 * spread
