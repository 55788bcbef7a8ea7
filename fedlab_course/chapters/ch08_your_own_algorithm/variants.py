"""FedDyn with one part changed: which clients train, what h is divided by, the clients' half alone,
and the server's half alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.algorithms.feddyn import FedDyn
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server


@dataclass(frozen=True)
class FedDynInTurn(FedDyn):
    """FedDyn that trains the clients in the order of their numbers, K a round, and begins again
    after the last.
    """

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
        first = (server.round - 1) * server.clients_per_round
        yield np.arange(first, first + server.clients_per_round) % server.num_clients


@dataclass(frozen=True)
class FedDynByCohort(FedDyn):
    """FedDyn with a mistake: the moves that h adds up are divided by |S|, where N is due."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        h = server.state["h"]
        super().aggregate(server, updates)  # updates h_k
        move = updates.params.mean(0) - server.params
        server.state["h"] = h - self.mu * move
        return server.params + move - server.state["h"] / self.mu


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
