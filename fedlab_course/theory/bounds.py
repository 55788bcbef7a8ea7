"""Two bounds of [004] as numbers: the error after T steps (theorem 1), and the best number of local steps (3.6)."""

from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_core.validation import NotNegative, Positive


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What the bounds need to know.

    ``noise`` Σ ρ_k σ_k², the weighted variance of the stochastic gradients; ``smoothness`` L; ``convexity`` μ;
    ``gradient`` G, the bound on gradient norms; ``gap`` Γ = F* − Σ ρ_k F_k*, the heterogeneity.
    """

    noise: NotNegative
    smoothness: Positive
    convexity: Positive
    gradient: Positive
    gap: NotNegative

    def __post_init__(self) -> None:
        validation.check_fields(self)

    def error_bound(self, steps: np.ndarray, local_steps: int, start: float) -> np.ndarray:
        """Theorem 1, eq. (26): v/(T + γ) at each T of ``steps``, with E = ``local_steps`` a round and η_t = β/(t + γ).

            v = max{Lβ²B/(4βμ − 2), (γ + 1)·start},    B = Σ ρ_k σ_k² + (4L²(E − 1)² + L/μ) G² + 2LΓ

        with β = 2/μ and γ = 8L/μ as in the experiments, so that Lβ²B/(4βμ − 2) = 2LB/(3μ²); M = 0, for all clients
        take part. ``start``: F(w_1) − F*.
        """
        condition, drift = self.smoothness / self.convexity, 4 * self.smoothness**2 * (local_steps - 1) ** 2
        total = self.noise + (drift + condition) * self.gradient**2 + 2 * self.smoothness * self.gap
        gamma = 8 * condition
        v = max(2 * self.smoothness * total / (3 * self.convexity**2), (gamma + 1) * start)
        return v / (np.asarray(steps, dtype=float) + gamma)

    def best_local_steps(self, num_clients: int, clients_per_round: int) -> float:
        """E* = √(B/A), where the rounds to a given accuracy, A·E + B/E by eq. (35), are fewest.

            A = (1 + (N − K)/(KN)) G²,    B = Σ ρ_k σ_k² + LΓ + LG²/μ

        E* *grows* with Γ; the text of [004] and its figures say the opposite. The bound is an upper one: it does not
        contradict the figures, but it cannot explain them either.
        """
        per_step = (1 + (num_clients - clients_per_round) / (clients_per_round * num_clients)) * self.gradient**2
        fixed = self.noise + self.smoothness * self.gap + self.smoothness * self.gradient**2 / self.convexity
        return float(np.sqrt(fixed / per_step))
