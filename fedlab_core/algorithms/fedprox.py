"""FedProx: FedAvg with a proximal term that holds clients near the global model.

Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: Federated Optimization in Heterogeneous Networks, MLSys 2020, algorithm 2
and eq. (2); [001].

    minimise F_k(y) + μ/2 ‖y − w‖²,  so the local gradient is  ∇F_k(y; batch) + μ (y − w)
    w ← Σ_S n_k y_k / Σ_S n_k

μ ≥ 0 proximal strength; μ = 0 is FedAvg exactly. Partial work (stragglers) is a setting of the run,
``simulate(…, stragglers=0.5)``, and is kept, not dropped.

Deviations. The paper samples clients with probability n_k/n and averages them with equal weights; here, as in [001] and
in most implementations, sampling is uniform and the average is weighted by n_k. The paper searches μ in
{0.001, 0.01, 0.1, 0.5, 1} and has no default; the "μ = 0.2 as in the original" of [002] and [004] is not in it.
"""

from dataclasses import dataclass
from typing import ClassVar

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.correction import Correction
from fedlab_core.server import Server


@dataclass(frozen=True)
class FedProx(Algorithm):
    """FedAvg with weight μ and anchor w^t. Raises ``ValueError`` unless μ is finite and ≥ 0."""

    needs: ClassVar[Needs] = "mean"
    mu: float

    def __post_init__(self) -> None:
        validation.real("mu", self.mu)

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(weight=self.mu, anchor=server.params)
