"""Ditto: a global model by FedAvg, and a personal model per client that is pulled towards it.

Li, Hu et al.: Ditto: Fair and Robust Federated Learning Through Personalization, ICML 2021,
algorithm 1.

    w ← Σ_S n_k y_k / Σ_S n_k,    y_k: E epochs of SGD from w          FedAvg, unchanged
    v_k ← v_k − η (∇F_k(v_k; batch) + λ (v_k − w))    for k ∈ S, as many steps,
                                                      with the w that S received

w global, v_k personal and y_k local parameters [P], λ = ``strength`` ≥ 0. A client is measured with
v_k. λ = 0 is training alone; large λ gives w (stable for ηλ below about 2). P numbers down and P up
per client: v_k is not sent.

The paper leaves the first v_k open; here it is w_0. Batches of v_k come from the stream "personal".
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, Correction, LocalUpdates, Server
from fedlab_core.validation import NotNegative


@dataclass(frozen=True)
class Ditto(Algorithm):
    """Ditto with λ = ``strength`` ≥ 0.

    State: ``start`` w_0 [P] and ``personal`` [N, P], v_k − w_0.
    """

    strength: NotNegative

    def setup(self, server: Server) -> None:
        server.state |= {"start": server.params.clone(), "personal": server.client_table()}

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        w = server.params
        personal = self.client_params(server, updates.clients)
        corrections = [Correction(start=v, weight=self.strength, anchor=w) for v in personal]
        trained = server.train(updates.clients, corrections, stream="personal")
        server.state["personal"][updates.clients] = trained.params - server.state["start"]
        return updates.weighted_mean()

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        return server.state["start"] + server.state["personal"][clients]
