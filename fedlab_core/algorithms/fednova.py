"""FedNova: normalised averaging, which removes the bias towards clients with more local steps.

Wang et al.: Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization,
NeurIPS 2020, eqs. (5)–(8) and section 4.

    d_k = (w − y_k) / (η ‖a_k‖₁)                      the mean gradient of client k
    w ← w − τ_eff η Σ_S p_k d_k,    p_k = n_k / Σ_S n
    plain SGD:            ‖a_k‖₁ = τ_k,                          τ_eff = Σ_S p_k τ_k
    proximal weight μ:    ‖a_k‖₁ = [1 − (1 − ημ)^τ_k] / (ημ),    τ_eff = Σ_S p_k τ_k
    local momentum ρ:     ‖a_k‖₁ = [τ_k − ρ (1 − ρ^τ_k) / (1 − ρ)] / (1 − ρ),
                          τ_eff = Σ_S p_k ‖a_k‖₁

τ_k local steps that client k did, η local rate, μ ≥ 0 proximal weight, ρ the run's
``local_momentum`` (not together with μ, as the paper has it; the authors' code combines them). P
numbers down, P + 1 up (Δw, ‖a_k‖₁) per client.

Deviation. The paper's p_k are weights over all N clients; here they are normalised over the cohort,
without N/K.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import (
    Algorithm,
    Correction,
    FederatedDataset,
    LocalUpdates,
    Server,
    Settings,
)
from fedlab_core.clients.updates import widened
from fedlab_core.validation import NotNegative


@dataclass(frozen=True)
class FedNova(Algorithm):
    """FedNova with proximal weight μ ≥ 0.

    A run needs ημ < 2 in every round, which keeps ‖a_k‖₁ positive.
    """

    needs = "each"
    mu: NotNegative = 0.0

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        largest = max(settings.rates)
        if largest * self.mu >= 2:
            raise ValueError(
                f"mu={self.mu}: lr·mu must be < 2, or local steps diverge; it is "
                f"{largest * self.mu:g}"
            )
        if self.mu and settings.local_momentum:
            raise ValueError(
                f"mu={self.mu}: must be 0 with local_momentum={settings.local_momentum}"
            )

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(weight=self.mu, anchor=server.params)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        tau = widened(updates.num_steps)
        shrink = server.lr * self.mu
        rho = server.local_momentum
        p = widened(updates.num_samples) / updates.num_samples.sum()
        if rho > 0:
            a_norm = (tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho)
            weights = (p @ a_norm) * p / a_norm
        else:
            a_norm = (1 - (1 - shrink) ** tau) / shrink if shrink > 0 else tau
            weights = (p @ tau) * p / a_norm
        return server.params - weights.to(server.params.dtype) @ (server.params - updates.params)

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return len(cohort) * server.num_parameters, len(cohort) * (server.num_parameters + 1)
