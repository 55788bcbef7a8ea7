"""What the theory of [004] says about the number of local steps, section 3.6, to be held against experiments."""

import math
from dataclasses import dataclass

from fedlab_core import validation


@dataclass(frozen=True)
class LocalStepsBound:
    """Eq. (35) of [004]: the rounds to a given accuracy grow like A·E + B/E in the number E of local steps.

        A = (1 + (N − K)/(KN)) G²,    B = Σ ρ_k σ_k² + LΓ + LG²/μ

    ``noise`` Σ ρ_k σ_k², the weighted variance of the stochastic gradients; ``smoothness`` L; ``convexity`` μ;
    ``gradient`` G, the bound on gradient norms; ``gap`` Γ = F* − Σ ρ_k F_k*, the heterogeneity; N ``num_clients``; K
    ``clients_per_round``.
    """

    noise: float
    smoothness: float
    convexity: float
    gradient: float
    gap: float
    num_clients: int
    clients_per_round: int

    def __post_init__(self) -> None:
        for name in ("noise", "gap"):
            validation.real(name, getattr(self, name))
        for name in ("smoothness", "convexity", "gradient"):
            validation.real(name, getattr(self, name), exclusive=True)
        validation.integer("num_clients", self.num_clients, minimum=1)
        validation.integer("clients_per_round", self.clients_per_round, minimum=1, maximum=self.num_clients)

    @property
    def _per_step(self) -> float:
        n, k = self.num_clients, self.clients_per_round
        return (1 + (n - k) / (k * n)) * self.gradient**2

    @property
    def _fixed(self) -> float:
        return self.noise + self.smoothness * self.gap + self.smoothness * self.gradient**2 / self.convexity

    def rounds(self, local_steps: float) -> float:
        """A·E + B/E at E = ``local_steps``, up to a factor that does not depend on E."""
        validation.real("local_steps", local_steps, exclusive=True)
        return self._per_step * local_steps + self._fixed / local_steps

    @property
    def best_local_steps(self) -> float:
        """E* = √(B/A), where the bound is least. It *grows* with Γ; the text of [004] and its figures say the opposite.

        The bound is an upper one: it does not contradict the figures, but it cannot explain them either.
        """
        return math.sqrt(self._fixed / self._per_step)
