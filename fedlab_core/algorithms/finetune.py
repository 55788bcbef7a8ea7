"""FineTune: FedAvg, after which every client trains the global model on its own samples.

Yu, Bagdasaryan, Shmatikov: Salvaging Federated Learning by Local Adaptation, 2020.

    w ← Σ_S n_k y_k / Σ_S n_k      in every round, as in FedAvg
    v_k: ``epochs`` epochs of SGD from w on client k's samples, with rate, batch size and momentum of the round

w [P] global, y_k [P] local and v_k [P] fine-tuned parameters. A client is measured with v_k, which does not change w:
the run equals FedAvg's bit for bit. The random stream is "fine_tune". P numbers down and P up per client and round; the
final broadcast of w is not counted, as for every algorithm.

Measure it with ``held_out``: accuracy on the samples that v_k was trained on is too optimistic.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import PLAIN, Algorithm, Server
from fedlab_core.server import finite


@dataclass(frozen=True)
class FineTune(Algorithm):
    """FedAvg whose clients fine-tune w for ``epochs`` ≥ 1 before they use it."""

    epochs: int

    def __post_init__(self) -> None:
        validation.integer("epochs", self.epochs, minimum=1)

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        corrections = [PLAIN] * len(clients)
        return finite(server.train(clients, corrections, epochs=self.epochs, stream="fine_tune"), server.lr).params
