"""What every engine does: training as its own method says, and evaluation in one way for all."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core.correction import Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.work import BatchPlan, Work, plan_batches
from fedlab_core.losses import LOSSES, Loss
from fedlab_core.updates import ChunkedUpdates, LocalUpdates, Rows, gathered, widened

AT_ONCE_BYTES = 2**29  # of a cohort's parameters; of larger ones a few clients at a time are in memory
EVALUATION_SAMPLES = 10_000


class Evaluation(NamedTuple):
    """Mean loss and share of correct predictions; NaN without samples, and accuracy NaN for regression."""

    loss: float
    accuracy: float


class Engine(ABC):
    """Local training and evaluation of one model on one federation, on one device.

    ``name`` "reference" or "stacked", as the setting has it; ``form`` how the clients go through the model: "loop",
    one after another; "layers", together through layers that know of clients; "vmap", together through ``torch.func``.
    """

    name: str
    form: str

    def __init__(self, fed: FederatedDataset, model: nn.Module, loss: Loss, device: str = "cpu") -> None:
        self.model = FlatModel(model, device)
        self.loss = loss
        self.device = device
        self.fed = fed
        self.x, self.y = fed.x.to(device), fed.y.to(device)

    def train(self, params: Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        """Local SGD from ``params`` w [P] on every client of ``work``, with one correction per client.

        More than ``AT_ONCE_BYTES`` of local parameters come as :class:`ChunkedUpdates`.
        """
        plans = plan_batches(work, self.fed.sizes[work.clients].tolist())
        steps = torch.tensor([plan.num_steps for plan in plans], dtype=params.dtype, device=self.device)
        counts = steps, self.num_samples(work.clients), params
        if len(plans) * params.nbytes > AT_ONCE_BYTES:
            return ChunkedUpdates(work.clients, lambda: self.trained(params, work, plans, corrections), *counts)
        rows = gathered(len(plans), self.trained(params, work, plans, corrections))
        return LocalUpdates(work.clients, rows, *counts)

    @abstractmethod
    def trained(
        self, params: Tensor, work: Work, plans: Sequence[BatchPlan], corrections: Sequence[Correction]
    ) -> Rows:
        """The local parameters of the clients of ``work``, a few at a time, after all steps of their ``plans``."""

    @abstractmethod
    def mean_gradients(self, params: Tensor, groups: Sequence[np.ndarray], training: bool = False) -> Tensor:
        """The gradients [G, P] of the mean loss over each group of samples (indices into the data).

        The model is in evaluation mode, or with ``training`` in that of local steps.
        """

    @abstractmethod
    def moments(self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int) -> Tensor:
        """For each group of samples, the mean of |∇ loss(one sample)|^``power`` at its row of ``params``, [G, P].

        The power is taken of every sample's own gradient, before the mean.
        """

    def gradients(self, params: Tensor, clients: np.ndarray) -> Tensor:
        """Full-batch gradients ∇F_k(params) [K, P] of the given clients."""
        return self.mean_gradients(params, [self.fed.parts[client] for client in clients])

    def num_samples(self, clients: np.ndarray) -> Tensor:
        """n_k [K] of the given clients."""
        return torch.tensor(self.fed.sizes[clients], dtype=self.model.dtype, device=self.device)

    @torch.no_grad()
    def evaluate(self, params: Tensor, x: Tensor, y: Tensor) -> Evaluation:
        """Mean loss and accuracy of ``params`` [P] on samples ``x`` [n, …], ``y`` [n, …], exact for any n.

        Of the losses with a name, the mean over chunks of samples is that of all. Any other, which may weigh samples
        or leave some out, is asked once for all outputs.
        """
        if not len(y):
            return Evaluation(math.nan, math.nan)
        is_plain_mean = self.loss in LOSSES.values()
        total, hits = widened(torch.zeros(2, device=params.device))
        outputs = []
        for output, targets in self.model.outputs(params, x, y):
            if is_plain_mean:
                total += self.loss(output, targets) * len(targets)
            else:
                outputs.append(output)
            if not y.is_floating_point():
                hits += (output.argmax(1) == targets).sum()
        loss = float(total) / len(y) if is_plain_mean else float(self.loss(torch.cat(outputs), y))
        return Evaluation(loss, math.nan if y.is_floating_point() else float(hits) / len(y))

    def losses(self, params: Tensor, clients: np.ndarray) -> Tensor:
        """F_k [K] of the given clients at ``params`` [P], on all their samples, in evaluation mode."""
        sizes, result = self.fed.sizes[clients], []
        for group in np.split(clients, np.flatnonzero(np.diff(np.cumsum(sizes) // EVALUATION_SAMPLES)) + 1):
            own = torch.from_numpy(np.concatenate([self.fed.parts[client] for client in group])).to(self.device)
            outputs = torch.cat([output for output, _ in self.model.outputs(params, self.x[own], self.y[own])])
            pieces = self.fed.sizes[group].tolist()
            pairs = zip(outputs.split(pieces), self.y[own].split(pieces), strict=True)
            result += [self.loss(output, targets) for output, targets in pairs]
        return torch.stack(result)

    def hits(self, params: Tensor, indices: np.ndarray) -> np.ndarray:
        """Which of the training samples ``indices`` [m] the model with ``params`` [P] gets right, a bool array [m]."""
        hits = []
        for own in torch.from_numpy(indices).to(self.device).split(EVALUATION_SAMPLES):
            hits += [output.argmax(1) == y for output, y in self.model.outputs(params, self.x[own], self.y[own])]
        return torch.cat(hits).cpu().numpy()
