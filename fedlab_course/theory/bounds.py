"""Two bounds of [004] as numbers: the error after T steps (theorem 1), and the best number of local steps (3.6).

``noise`` Σ ρ_k σ_k², the weighted variance of the stochastic gradients; ``smoothness`` L; ``convexity`` μ; ``gradient``
G, the bound on gradient norms; ``gap`` Γ = F* − Σ ρ_k F_k*, the heterogeneity.
"""

import numpy as np

from fedlab_core import validation


def error_bound(
    steps: np.ndarray,
    local_steps: int,
    *,
    start: float,
    noise: float,
    smoothness: float,
    convexity: float,
    gradient: float,
    gap: float,
) -> np.ndarray:
    """Theorem 1, eq. (26): v/(T + γ) at each T of ``steps``, for E = ``local_steps`` in a round and η_t = β/(t + γ).

        v = max{Lβ²B/(4βμ − 2), (γ + 1)·start},    B = Σ ρ_k σ_k² + (4L²(E − 1)² + L/μ) G² + 2LΓ

    with β = 2/μ and γ = 8L/μ as in the experiments, so that Lβ²B/(4βμ − 2) = 2LB/(3μ²); M = 0, for all clients take
    part. ``start``: F(w_1) − F*.
    """
    _check(noise, smoothness, convexity, gradient, gap)
    validation.integer("local_steps", local_steps, minimum=1)
    condition = smoothness / convexity
    drift = 4 * smoothness**2 * (local_steps - 1) ** 2
    total = noise + (drift + condition) * gradient**2 + 2 * smoothness * gap
    gamma = 8 * condition
    v = max(2 * smoothness * total / (3 * convexity**2), (gamma + 1) * validation.real("start", start))
    return v / (np.asarray(steps, dtype=float) + gamma)


def best_local_steps(
    *,
    noise: float,
    smoothness: float,
    convexity: float,
    gradient: float,
    gap: float,
    num_clients: int,
    clients_per_round: int,
) -> float:
    """E* = √(B/A), where the rounds to a given accuracy, A·E + B/E by eq. (35), are fewest.

        A = (1 + (N − K)/(KN)) G²,    B = Σ ρ_k σ_k² + LΓ + LG²/μ

    E* *grows* with Γ; the text of [004] and its figures say the opposite. The bound is an upper one: it does not
    contradict the figures, but it cannot explain them either.
    """
    _check(noise, smoothness, convexity, gradient, gap)
    k = validation.integer("clients_per_round", clients_per_round, minimum=1, maximum=num_clients)
    per_step = (1 + (num_clients - k) / (k * num_clients)) * gradient**2
    fixed = noise + smoothness * gap + smoothness * gradient**2 / convexity
    return float(np.sqrt(fixed / per_step))


def _check(noise: float, smoothness: float, convexity: float, gradient: float, gap: float) -> None:
    for name, value in (("noise", noise), ("gap", gap)):
        validation.real(name, value)
    for name, value in (("smoothness", smoothness), ("convexity", convexity), ("gradient", gradient)):
        validation.real(name, value, exclusive=True)
