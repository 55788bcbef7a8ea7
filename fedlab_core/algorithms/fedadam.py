"""FedAdam and FedYogi: adaptive optimisers on the server; the clients' mean change is their gradient.

Reddi, Charles, Zaheer, Garrett, Rush, Konečný, Kumar, McMahan: Adaptive Federated Optimization, ICLR 2021, algorithm 2.

    Δ = Σ_S n_k (y_k − w) / Σ_S n_k
    m ← β₁ m + (1 − β₁) Δ
    FedAdam:  v ← β₂ v + (1 − β₂) Δ²
    FedYogi:  v ← v − (1 − β₂) Δ² sign(v − Δ²)
    w ← w + η_g m / (√v + τ)

m, v [P], element by element, without bias correction; η_g server rate, τ degree of adaptivity. P numbers down and P up
per client.

Deviations. Algorithm 2 averages clients with equal weights; here, as in its experiments (section 5), the weights are
n_k. The paper asks for v ≥ τ² at the start; here v = τ². The paper tunes η_g, so that it has no default.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Needs, Server


@dataclass(frozen=True)
class FedAdam(Algorithm):
    """Adam on the server with rate η_g > 0, β₁ and β₂ in [0, 1), τ > 0. State: ``m`` and ``v`` [P]."""

    needs: ClassVar[Needs] = "mean"
    server_lr: float
    beta1: float = 0.9
    beta2: float = 0.99
    tau: float = 1e-3

    def __post_init__(self) -> None:
        validation.real("beta1", self.beta1, below=1)
        validation.real("beta2", self.beta2, below=1)
        for name in ("server_lr", "tau"):
            validation.real(name, getattr(self, name), exclusive=True)

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
    """Yogi on the server, which forgets large Δ² more slowly than Adam; parameters and state as for FedAdam."""

    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return v - (1 - self.beta2) * square * (v - square).sign()
