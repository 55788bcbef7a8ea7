"""Ditto: a global model by FedAvg, and beside it a model of every client's own that is drawn to it.

Li, Hu, Beirami, Smith: Ditto: Fair and Robust Federated Learning Through Personalization, ICML 2021, algorithm 1.

    w ← Σ_S n_k y_k / Σ_S n_k,    y_k: E epochs of SGD from w              FedAvg, which Ditto leaves as it is
    v_k ← v_k − η (∇F_k(v_k; batch) + λ (v_k − w))    for k ∈ S, as many steps, w as it was sent to S

w [P] global and v_k [P] personal parameters, y_k [P] local ones, n_k samples, η the rate, λ = ``strength`` ≥ 0. A
client uses and is measured with v_k. λ = 0 is training alone; as λ grows v_k comes to w (steps are stable for η λ below
about 2). P numbers down and P up per client: v_k never leaves it. Training it doubles the work of a round.

The paper leaves v_k at the start open; here it is w_0. The batches of v_k come from the stream "personal", rate,
momentum and amount of work are those of the round.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server, finite


@dataclass(frozen=True)
class Ditto(Algorithm):
    """Ditto with λ = ``strength`` ≥ 0. State: ``start`` w_0 [P] and ``personal`` [N, P], v_k − w_0."""

    strength: float

    def __post_init__(self) -> None:
        validation.real("strength", self.strength)

    def setup(self, server: Server) -> None:
        server.state |= {"start": server.params.clone(), "personal": server.client_table()}

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        own = [
            Correction(start=v, weight=self.strength, anchor=server.params)
            for v in self.client_params(server, updates.clients)
        ]
        trained = finite(server.train(updates.clients, own, stream="personal"), server.lr)
        server.state["personal"][updates.clients] = trained.params - server.state["start"]
        return updates.weighted_mean()

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        return server.state["start"] + server.state["personal"][clients]
