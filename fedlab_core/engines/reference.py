"""The readable engine: a loop over clients, a loop over steps, one gradient at a time.

The loop over steps is ``local_sgd`` of ``fedlab_core/one_page.py``. Every other engine computes the same numbers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch

from fedlab_core.correction import Correction
from fedlab_core.engines.base import Engine
from fedlab_core.engines.work import Work, plan_batches
from fedlab_core.losses import Loss
from fedlab_core.one_page import local_sgd
from fedlab_core.randomness import derived_seed
from fedlab_core.updates import LocalUpdates


class ReferenceEngine(Engine):
    """Local training of a cohort, one client after another."""

    name, form = "reference", "loop"

    def train(self, params: torch.Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        """y ← y − η (∇F_k(y; batch) + a ⊙ (y − r) + d), from y = ``params``, for every client of ``work``."""
        self.model.module.train()
        locals_, steps = [], []
        plans = plan_batches(work, [len(self.fed.parts[client]) for client in work.clients])
        for position, client in enumerate(work.clients):
            plan, samples = plans[position], self.fed.parts[client]
            batches = (torch.from_numpy(samples[plan.batch(step)]).to(self.device) for step in range(plan.num_steps))
            with self._own_stream(work, int(client)):
                locals_.append(local_sgd(params, batches, self.gradient, corrections[position], work.lr))
            steps.append(plan.num_steps)
        return LocalUpdates(
            clients=work.clients,
            params=torch.stack(locals_),
            num_steps=torch.tensor(steps, dtype=params.dtype, device=self.device),
            num_samples=self.num_samples(work.clients),
        )

    def gradient(self, params: torch.Tensor, batch: torch.Tensor, loss: Loss | None = None) -> torch.Tensor:
        """Gradient [P] of the mean loss (the engine's own by default) over the samples ``batch`` (indices)."""
        return self.model.gradient(params, self.x[batch], self.y[batch], loss or self.loss)

    def mean_gradients(
        self, params: torch.Tensor, groups: Sequence[np.ndarray], training: bool = False
    ) -> torch.Tensor:
        self.model.module.train(training)
        batches = [torch.from_numpy(group).to(self.device) for group in groups]
        return torch.stack([self.gradient(params, batch) for batch in batches])

    def moments(self, params: torch.Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int) -> torch.Tensor:
        self.model.module.eval()
        result = torch.zeros_like(params)
        for mean, local, group in zip(result, params, groups, strict=True):
            for sample in torch.from_numpy(group).to(self.device).split(1):
                mean += self.gradient(local, sample, loss).abs() ** power / len(group)
        return result

    @contextmanager
    def _own_stream(self, work: Work, client: int) -> Iterator[None]:
        """Dropout draws from PyTorch's global generator: lend it the client's own stream and give it back."""
        devices = [] if self.device == "cpu" else [self.device]
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(derived_seed(work.seed, "dropout", round=work.round, client=client))
            yield
