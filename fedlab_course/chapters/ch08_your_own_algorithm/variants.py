"""FedDyn with one part changed: which clients train, and what h is divided by."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

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
