"""The two halves of FedDyn: the clients' half alone, and the server's half alone."""

from dataclasses import dataclass

import torch

import fedlab_core as fl
from fedlab_core.algorithms.feddyn import FedDyn
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server


@dataclass(frozen=True)
class FedDynClients(FedDyn):
    """The clients' half of FedDyn: their gradients are corrected by −h_k + μ (y − w), and the
    server takes the mean.

    With K of N clients a round it rests where ∇F(w) = −μ K/N (w − w_0), w_0 the start: Σ h_k grows
    by −μ Σ_S (y_k − w) = −μ K (the server's step) each round, and h_k = ∇F_k(w) in the end.
    """

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        super().aggregate(server, updates)  # updates h_k
        return updates.params.mean(0)


@dataclass(frozen=True)
class FedDynServer(fl.Algorithm):
    """The server's half of FedDyn: w ← mean_S y_k + Σ of all moves so far / N, from clients that
    train as FedAvg's.

    That is w ← mean_S y_k − h/μ, in which μ cancels. State: ``moved`` [P].
    """

    def setup(self, server: Server) -> None:
        server.state["moved"] = torch.zeros_like(server.params)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        moves = updates.params - server.params
        server.state["moved"] = server.state["moved"] + moves.sum(0) / server.num_clients
        return updates.params.mean(0) + server.state["moved"]
