"""FineTune: FedAvg, after which every client trains the global model on its own samples.

Yu et al.: Salvaging Federated Learning by Local Adaptation, 2020.

    w ← Σ_S n_k y_k / Σ_S n_k      in every round, as in FedAvg
    v_k: ``epochs`` epochs of SGD from w on client k's samples,
         with rate, batch size and momentum of the round

A client is measured with v_k [P], which does not change w: the run equals FedAvg's bit for bit. Use
``held_out``: accuracy on the samples that v_k was trained on is too optimistic. The random stream
is "fine_tune".
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import PLAIN, Algorithm, Server
from fedlab_core.validation import Count


@dataclass(frozen=True)
class FineTune(Algorithm):
    """FedAvg whose clients fine-tune w for ``epochs`` ≥ 1 before they use it."""

    epochs: Count

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        corrections = [PLAIN] * len(clients)
        return server.train(clients, corrections, epochs=self.epochs, stream="fine_tune").params
