"""FedDyn: a dynamic regulariser per client, which makes the local optima agree with the global one.

Acar et al.: Federated Learning Based on Dynamic Regularization, ICLR 2021, algorithm 1.

    h = h_k = 0 at the start
    client k minimises  F_k(y) − ⟨h_k, y⟩ + μ/2 ‖y − w‖²
    its gradient        ∇F_k(y; batch) − h_k + μ (y − w)
    h_k ← h_k − μ (y_k − w)                                 equals ∇F_k(y_k) if y_k is the minimiser
    h ← h − μ Σ_S (y_k − w) / N                             h is the mean of h_k over all N clients
    w ← mean_S y_k − h / μ                                  unweighted

μ > 0 is the paper's α; h, h_k [P]. The fixed point is the optimum of the unweighted mean of the F_k
for any number of local steps.

Deviations. The paper solves the local problem exactly; here clients do the run's epochs or steps.
Its authors' code evaluates the mean of the clients' models, and divides α by each client's relative
n_k.
"""

from dataclasses import dataclass

import torch

from fedlab_core.algorithms.base import Algorithm, Correction, LocalUpdates, Server
from fedlab_core.validation import Positive


@dataclass(frozen=True)
class FedDyn(Algorithm):
    """FedDyn with strength μ > 0. State: ``h`` [P] and ``h_clients`` [N, P]."""

    mu: Positive

    def setup(self, server: Server) -> None:
        server.state |= {"h": torch.zeros_like(server.params), "h_clients": server.client_table()}

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(
            weight=self.mu, anchor=server.params, offset=-server.state["h_clients"][client]
        )

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        h_clients = server.state["h_clients"]
        changes = updates.params - server.params
        h_clients[updates.clients] = h_clients[updates.clients] - self.mu * changes
        server.state["h"] = server.state["h"] - self.mu * changes.sum(0) / server.num_clients
        return server.params + changes.mean(0) - server.state["h"] / self.mu
