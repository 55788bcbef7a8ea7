"""FedAvgM: FedAvg with momentum on the server.

Hsu et al.: Measuring the Effects of Non-Identical Data Distribution for Federated Visual
Classification, 2019, section 4.3. The paper has η_g = 1 and recommends no β; server rate and β =
0.9 are those of Reddi et al. (2021).

    Δ = Σ_S n_k (y_k − w) / Σ_S n_k
    v ← β v + Δ,    w ← w + η_g v

v [P] velocity, zero at the start; β its decay; η_g server rate. β = 0 and η_g = 1 give FedAvg.
"""

from dataclasses import dataclass

import torch

from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Server
from fedlab_core.validation import BelowOne, Positive


@dataclass(frozen=True)
class FedAvgM(Algorithm):
    """FedAvg with server momentum β in [0, 1) and server rate η_g > 0. State: ``velocity`` [P]."""

    needs = "mean"
    beta: BelowOne = 0.9
    server_lr: Positive = 1.0

    def setup(self, server: Server) -> None:
        server.state["velocity"] = torch.zeros_like(server.params)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        change = updates.weighted_mean() - server.params
        server.state["velocity"] = self.beta * server.state["velocity"] + change
        return server.params + self.server_lr * server.state["velocity"]
