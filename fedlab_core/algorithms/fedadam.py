"""FedAdam and FedYogi: adaptive optimisers on the server; the clients' mean change is their
gradient.

Reddi et al.: Adaptive Federated Optimization, ICLR 2021, algorithm 2.

    Δ = Σ_S n_k (y_k − w) / Σ_S n_k
    m ← β₁ m + (1 − β₁) Δ
    FedAdam:  v ← β₂ v + (1 − β₂) Δ²
    FedYogi:  v ← v − (1 − β₂) Δ² sign(v − Δ²)
    w ← w + η_g m / (√v + τ)

m, v [P], element by element, without bias correction; η_g server rate, τ degree of adaptivity.

Deviations. Algorithm 2 averages clients with equal weights; here, as in its experiments (section
5), the weights are n_k. The paper asks for v ≥ τ² at the start; here v = τ². The paper tunes η_g,
so that it has no default.
"""

from dataclasses import dataclass

import torch

from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Server
from fedlab_core.validation import BelowOne, Positive


@dataclass(frozen=True)
class FedAdam(Algorithm):
    """Adam on the server with rate η_g > 0, β₁ and β₂ in [0, 1), τ > 0.

    State: ``m`` and ``v`` [P].
    """

    needs = "mean"
    server_lr: Positive
    beta1: BelowOne = 0.9
    beta2: BelowOne = 0.99
    tau: Positive = 1e-3

    def setup(self, server: Server) -> None:
        server.state["m"] = torch.zeros_like(server.params)
        server.state["v"] = torch.full_like(server.params, self.tau**2)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        change = updates.weighted_mean() - server.params
        m = self.beta1 * server.state["m"] + (1 - self.beta1) * change
        v = self._second_moment(server.state["v"], change**2)
        server.state |= {"m": m, "v": v}
        return server.params + self.server_lr * m / (v.sqrt() + self.tau)

    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        """The next v [P] from the last one and Δ² [P]."""
        return self.beta2 * v + (1 - self.beta2) * square


@dataclass(frozen=True)
class FedYogi(FedAdam):
    """Yogi on the server, which forgets large Δ² more slowly than Adam; parameters and state as for
    FedAdam.
    """

    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return v - (1 - self.beta2) * square * (v - square).sign()
