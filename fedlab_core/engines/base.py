"""What every engine does: training as its own method says, and evaluation in one way for all."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from fedlab_core.correction import Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.work import Evaluation, Work
from fedlab_core.losses import Loss
from fedlab_core.updates import LocalUpdates

EVALUATION_BATCH = 2000


class Engine(ABC):
    """Local training and evaluation of one model on one federation, on one device."""

    name: str

    def __init__(self, fed: FederatedDataset, model: nn.Module, loss: Loss, device: str = "cpu") -> None:
        self.model = FlatModel(model, device)
        self.loss = loss
        self.device = device
        self.fed = fed
        self.x, self.y = fed.x.to(device), fed.y.to(device)

    @abstractmethod
    def train(self, params: torch.Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        """Local SGD from ``params`` [P] on every client of ``work``, with one correction per client."""

    @abstractmethod
    def mean_gradients(self, params: torch.Tensor, groups: Sequence[np.ndarray]) -> torch.Tensor:
        """The gradients [G, P] of the mean loss over each group of samples (indices into the data)."""

    @abstractmethod
    def moments(self, params: torch.Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int) -> torch.Tensor:
        """For each group of samples, the mean of |∇ loss(one sample)|^``power`` at its row of ``params``, [G, P].

        The power is taken of every sample's own gradient, before the mean.
        """

    def gradients(self, params: torch.Tensor, clients: np.ndarray) -> torch.Tensor:
        """Full-batch gradients ∇F_k(params) [K, P] of the given clients."""
        return self.mean_gradients(params, [self.fed.parts[client] for client in clients])

    def num_samples(self, clients: np.ndarray) -> torch.Tensor:
        """n_k [K] of the given clients."""
        return torch.tensor(self.fed.sizes[clients], dtype=self.model.dtype, device=self.device)

    @torch.no_grad()
    def evaluate(self, params: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Evaluation:
        """Mean loss and accuracy of ``params`` [P] on samples ``x`` [n, …], ``y`` [n, …], exact for any n."""
        if not len(y):
            return Evaluation(math.nan, math.nan)
        self.model.module.eval()
        loss, correct = torch.zeros(2, dtype=torch.float64, device=params.device)
        for inputs, targets in zip(x.split(EVALUATION_BATCH), y.split(EVALUATION_BATCH), strict=True):
            output = self.model(params, inputs)
            loss += self.loss(output, targets) * len(targets)
            if not y.is_floating_point():
                correct += (output.argmax(1) == targets).sum()
        accuracy = math.nan if y.is_floating_point() else float(correct) / len(y)
        return Evaluation(float(loss) / len(y), accuracy)

    @torch.no_grad()
    def correct(self, params: torch.Tensor) -> np.ndarray:
        """Which training samples ``params`` [P] classifies correctly, a bool array [n]."""
        self.model.module.eval()
        batches = zip(self.x.split(EVALUATION_BATCH), self.y.split(EVALUATION_BATCH), strict=True)
        return torch.cat([self.model(params, x).argmax(1) == y for x, y in batches]).cpu().numpy()


def has_dropout(module: nn.Module) -> bool:
    """Whether training with ``module`` draws random numbers inside the model."""
    return any(isinstance(layer, nn.modules.dropout._DropoutNd) and layer.p > 0 for layer in module.modules())
