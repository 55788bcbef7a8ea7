"""The bound of theorem 1 of [004], eq. (26), as a number, to be held against the error of a run."""

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
    """v/(T + γ) at each T of ``steps``, for E = ``local_steps`` in a round and η_t = β/(t + γ).

        v = max{Lβ²B/(4βμ − 2), (γ + 1)·start},    B = Σ ρ_k σ_k² + (4L²(E − 1)² + L/μ) G² + 2LΓ

    with β = 2/μ and γ = 8L/μ as in the experiments, so that Lβ²B/(4βμ − 2) = 2LB/(3μ²); M = 0, for all clients take
    part. ``start``: F(w_1) − F*; ``noise`` Σ ρ_k σ_k²; ``smoothness`` L; ``convexity`` μ; ``gradient`` G; ``gap`` Γ.
    """
    for name, value in (("start", start), ("noise", noise), ("gap", gap), ("gradient", gradient)):
        validation.real(name, value)
    for name, value in (("smoothness", smoothness), ("convexity", convexity)):
        validation.real(name, value, exclusive=True)
    validation.integer("local_steps", local_steps, minimum=1)
    condition = smoothness / convexity
    drift = 4 * smoothness**2 * (local_steps - 1) ** 2
    total = noise + (drift + condition) * gradient**2 + 2 * smoothness * gap
    gamma = 8 * condition
    v = max(2 * smoothness * total / (3 * convexity**2), (gamma + 1) * start)
    return v / (np.asarray(steps, dtype=float) + gamma)
