"""FedProx: FedAvg with a proximal term, which keeps clients near the global model.

Li, Sahu et al.: Federated Optimization in Heterogeneous Networks, MLSys 2020, algorithm 2 and eq.
(2); [001].

    minimise F_k(y) + μ/2 ‖y − w‖²;  the local gradient is  ∇F_k(y; batch) + μ (y − w)
    w ← Σ_S n_k y_k / Σ_S n_k

μ ≥ 0 proximal strength; μ = 0 is FedAvg exactly. Partial work is a setting of the run,
``simulate(…, stragglers=0.5)``.

Deviations. The paper samples clients with probability n_k/n and averages with equal weights; here,
as in [001], sampling is uniform and weights are n_k. The paper has no default μ and searches
{0.001, 0.01, 0.1, 0.5, 1}; the "μ = 0.2 as in the original" of [002] and [004] is not in it.
"""

from dataclasses import dataclass

from fedlab_core.algorithms.base import Algorithm, Correction, Server
from fedlab_core.validation import NotNegative


@dataclass(frozen=True)
class FedProx(Algorithm):
    """FedAvg with a proximal term of strength μ ≥ 0."""

    needs = "mean"
    mu: NotNegative

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(weight=self.mu, anchor=server.params)
