"""FedAdam and FedYogi: adaptive optimisers on the server, for which the clients' mean change is a gradient.

Reddi, Charles, Zaheer, Garrett, Rush, Konečný, Kumar, McMahan: Adaptive Federated Optimization, ICLR 2021, algorithm 2.

    Δ = Σ_S n_k (y_k − w) / Σ_S n_k
    m ← β₁ m + (1 − β₁) Δ
    FedAdam:  v ← β₂ v + (1 − β₂) Δ²
    FedYogi:  v ← v − (1 − β₂) Δ² sign(v − Δ²)
    w ← w + η_g m / (√v + τ)

m, v [P], element by element; η_g server rate, τ the degree of adaptivity. There is no correction of the bias of m and v
at the start. P numbers down and P up per client, as FedAvg.

Deviations. Algorithm 2 averages the clients alike; its experiments weigh them by n_k (section 5), and so do we. It asks
for v ≥ τ² before round 1 and names no value; here it is τ². There is no default of η_g in the paper, which searches it
from 10⁻³ to 10; β₁ = 0.9, β₂ = 0.99 and τ = 10⁻³ are its values.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server


@dataclass(frozen=True)
class AdaptiveServer(Algorithm, ABC):
    """What the two share: server rate η_g > 0, β₁ and β₂ in [0, 1), τ > 0.

    State: ``m`` and ``v`` [P].
    """

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

    @abstractmethod
    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        """The next v [P] from the last and Δ² [P]."""


@dataclass(frozen=True)
class FedAdam(AdaptiveServer):
    """Adam on the server: v is a moving average of Δ²."""

    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return self.beta2 * v + (1 - self.beta2) * square


@dataclass(frozen=True)
class FedYogi(AdaptiveServer):
    """Yogi on the server: v moves towards Δ² by a step that depends on Δ² alone, so that it forgets more slowly."""

    def _second_moment(self, v: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return v - (1 - self.beta2) * square * (v - square).sign()
