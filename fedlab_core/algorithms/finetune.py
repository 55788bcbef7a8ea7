"""Fine-tuning: FedAvg, and at the end every client trains the global model on its own samples.

The simplest personalisation: Yu, Bagdasaryan, Shmatikov: Salvaging Federated Learning by Local Adaptation, 2020.

    w ← Σ_S n_k y_k / Σ_S n_k      round after round, as in FedAvg
    v_k: ``epochs`` epochs of SGD from w on the samples of client k, with rate, batches and momentum of the round

w [P] global and y_k [P] local parameters, n_k samples of client k. A client is measured with v_k [P], which has no
effect on w: the run is FedAvg's, bit for bit, with other accuracies of clients. Batches come from the stream
"fine_tune". P numbers down and P up per client and round; that w must be sent to all clients once more at the end is
not entered, as it is not for any other algorithm.

Measure it with ``held_out``: on the very samples that v_k was trained on, it would be praised for learning by heart.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm
from fedlab_core.correction import PLAIN
from fedlab_core.server import Server, finite


@dataclass(frozen=True)
class FineTune(Algorithm):
    """FedAvg whose clients adapt w for ``epochs`` ≥ 1 before they use it. Without any it would be FedAvg."""

    epochs: int

    def __post_init__(self) -> None:
        validation.integer("epochs", self.epochs, minimum=1)

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        corrections = [PLAIN] * len(clients)
        return finite(server.train(clients, corrections, epochs=self.epochs, stream="fine_tune"), server.lr).params
