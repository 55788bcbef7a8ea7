"""The readable engine: a loop over clients and over steps, one gradient at a time.

The loop over steps is ``local_sgd`` of ``fedlab_core/one_page.py``. The stacked engine computes the
same numbers.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fedlab_core.correction import Correction
from fedlab_core.engines.base import Engine
from fedlab_core.engines.work import BatchPlan, Work
from fedlab_core.losses import Loss
from fedlab_core.one_page import local_sgd
from fedlab_core.randomness import derived_seed, torch_generator


class ReferenceEngine(Engine):
    """Local training of a cohort, one client after another."""

    name = "reference"
    form = "loop"

    def train_into(
        self,
        rows: Tensor,
        params: Tensor,
        work: Work,
        plans: Sequence[BatchPlan],
        corrections: Sequence[Correction],
    ) -> None:
        clients = work.clients.tolist()
        for row, client, plan, correction in zip(rows, clients, plans, corrections, strict=True):
            row.copy_(self.alone(params, work, client, self.fed.parts[client], plan, correction))

    def alone(
        self,
        params: Tensor,
        work: Work,
        client: int,
        samples: np.ndarray,
        plan: BatchPlan,
        correction: Correction,
    ) -> Tensor:
        """The local parameters [P] of one client, whose samples have the indices ``samples``."""
        self.model.train()
        batches = (
            torch.from_numpy(samples[plan.batch(step)]).to(self.device)
            for step in range(plan.num_steps)
        )
        with torch_generator(
            self.device, derived_seed(work.seed, "dropout", round=work.round, client=client)
        ):
            return local_sgd(params, batches, self.gradient, correction, work.lr)

    def gradient(self, params: Tensor, batch: Tensor, loss: Loss | None = None) -> Tensor:
        """Gradient [P] of the mean loss (the engine's own by default) over the samples ``batch``
        (indices).
        """
        return self.model.gradient(params, self.x[batch], self.y[batch], loss or self.loss)

    def mean_gradients(
        self, params: Tensor, groups: Sequence[np.ndarray], training: bool = False
    ) -> Tensor:
        self.model.train(training)
        batches = [torch.from_numpy(group).to(self.device) for group in groups]
        return torch.stack([self.gradient(params, batch) for batch in batches])

    def moments(
        self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int
    ) -> Tensor:
        self.model.train(False)
        result = torch.zeros_like(params)
        for mean, local, group in zip(result, params, groups, strict=True):
            for sample in torch.from_numpy(group).to(self.device).split(1):
                mean += self.gradient(local, sample, loss).abs() ** power / len(group)
        return result
