"""The readable engine: a loop over clients, a loop over steps, one gradient at a time.

This is the code to read. Every other engine computes the same numbers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch

from fedlab_core.correction import Correction
from fedlab_core.engines.base import Engine, has_dropout
from fedlab_core.engines.work import LocalUpdates, Work, plan_batches
from fedlab_core.randomness import derived_seed


class ReferenceEngine(Engine):
    """Local training of a cohort, one client after another."""

    name = "reference"

    def train(self, params: torch.Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        """y ← y − η (∇F_k(y; batch) + a ⊙ (y − r) + d), from y = ``params``, for every client of ``work``."""
        self.model.module.train()
        locals_, steps = [], []
        for position, client in enumerate(work.clients):
            samples = self.fed.parts[client]
            plan = plan_batches(work, position, len(samples))
            local = params
            with self._dropout_stream(work, int(client)):
                for step in range(plan.num_steps):
                    batch = torch.from_numpy(samples[plan.batch(step)]).to(self.device)
                    gradient = self.gradient(local, batch)
                    local = local - work.lr * corrections[position].added_to(gradient, local)
            locals_.append(local)
            steps.append(plan.num_steps)
        return LocalUpdates(
            clients=work.clients,
            params=torch.stack(locals_),
            num_steps=torch.tensor(steps, dtype=params.dtype, device=self.device),
            num_samples=self.num_samples(work.clients),
        )

    def gradient(self, params: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        """Gradient [P] of the mean loss over the samples ``batch`` (indices into the data)."""
        params = params.detach().requires_grad_()
        loss = self.loss(self.model(params, self.x[batch]), self.y[batch])
        return torch.autograd.grad(loss, params)[0]

    def mean_gradients(self, params: torch.Tensor, groups: Sequence[np.ndarray]) -> torch.Tensor:
        self.model.module.eval()
        batches = [torch.from_numpy(group).to(self.device) for group in groups]
        return torch.stack([self.gradient(params, batch) for batch in batches])

    @contextmanager
    def _dropout_stream(self, work: Work, client: int) -> Iterator[None]:
        """Dropout layers draw from PyTorch's global generator: lend it the client's own stream and give it back."""
        if not has_dropout(self.model.module):
            yield
            return
        devices = [] if self.device == "cpu" else [self.device]
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(derived_seed(work.seed, "dropout", round=work.round, client=client))
            yield
