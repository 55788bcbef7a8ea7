"""FedDyn: a regulariser for each client that changes from round to round until all agree on the optimum.

Acar, Zhao, Matas Navarro, Mattina, Whatmough, Saligrama: Federated Learning Based on Dynamic Regularization, ICLR 2021,
algorithm 1.

    h = h_k = 0 at the start
    client k minimises  F_k(y) − ⟨h_k, y⟩ + μ/2 ‖y − w‖²,  so the local gradient is  ∇F_k(y; batch) − h_k + μ (y − w)
    h_k ← h_k − μ (y_k − w)                                 the gradient ∇F_k(y_k), if y_k is the minimiser
    h ← h − μ Σ_S (y_k − w) / N                             so that h is the mean over all N clients of h_k
    w ← mean_S y_k − h / μ                                  unweighted

μ > 0 the paper's α; h, h_k [P]; h_k is kept by the client. Where it stands still y_k = w and h = 0, thus h_k = ∇F_k(w)
and Σ_k ∇F_k(w) = 0: the optimum of the unweighted mean of the F_k, however few steps a client takes. Sample counts n_k
do not enter; the paper's form for them multiplies F_k by N n_k / n. P numbers down and P up per client, as FedAvg.

Deviation. The paper solves the local problem exactly; here it gets the run's epochs or steps, so that h_k is the
gradient at y_k only in the limit. The authors' code adds weight decay and clips gradients; neither is in algorithm 1.
"""

from dataclasses import dataclass

import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server


@dataclass(frozen=True)
class FedDyn(Algorithm):
    """FedDyn with strength μ > 0.

    State: ``h`` [P] and ``h_clients`` [N, P].
    """

    mu: float

    def __post_init__(self) -> None:
        validation.real("mu", self.mu, exclusive=True)

    def setup(self, server: Server) -> None:
        server.state |= {"h": torch.zeros_like(server.params), "h_clients": server.client_table()}

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(weight=self.mu, anchor=server.params, offset=-server.state["h_clients"][client])

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        h_clients, changes = server.state["h_clients"], updates.params - server.params
        h_clients[updates.clients] = h_clients[updates.clients] - self.mu * changes
        server.state["h"] = server.state["h"] - self.mu * changes.sum(0) / server.num_clients
        return server.params + changes.mean(0) - server.state["h"] / self.mu
