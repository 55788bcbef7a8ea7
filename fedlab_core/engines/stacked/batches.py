"""The mini-batches of a cohort as one table of sample indices."""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np

from fedlab_core.engines.work import BatchPlan


class BatchTable:
    """``indices`` int64 [S, A, B] into the data and ``counts`` [S, A] of those that are real, not padding.

    Clients come in decreasing order of steps, so the ``active[s]`` clients that take step s are the first ones. In the
    steps where all of them have equally many samples, which are most, ``counts`` need not be looked at (``is_even``).
    """

    def __init__(self, plans: Sequence[BatchPlan], samples: Sequence[np.ndarray]) -> None:
        steps = np.array([plan.num_steps for plan in plans])
        total, batch = int(steps[0]), max(plan.batch_size for plan in plans)
        self.indices = np.zeros((total, len(plans), batch), dtype=np.int64)
        self.counts = np.zeros((total, len(plans)), dtype=np.int64)
        for k, (plan, own) in enumerate(zip(plans, samples, strict=True)):
            order, count = _rows(plan)
            self.indices[: plan.num_steps, k, : plan.batch_size] = own[order]
            self.counts[: plan.num_steps, k] = count
        self._finish(steps)

    @classmethod
    def whole(cls, samples: Sequence[np.ndarray]) -> Self:
        """One step that uses every sample of every client."""
        table = cls.__new__(cls)
        sizes = [len(own) for own in samples]
        table.indices = np.zeros((1, len(samples), max(sizes)), dtype=np.int64)
        table.counts = np.array([sizes])
        for k, own in enumerate(samples):
            table.indices[0, k, : len(own)] = own
        table._finish(np.ones(len(samples), dtype=np.int64))
        return table

    def _finish(self, steps: np.ndarray) -> None:
        total = len(self.counts)
        self.active = (np.arange(total)[:, None] < steps).sum(1)
        self.width = self.counts.max(1)
        padded = np.where(self.counts > 0, self.counts, self.width[:, None])
        self.is_even = (padded == self.width[:, None]).all(1)

    def steps(self) -> Iterator[tuple[int, int, bool]]:
        """For each step: how many clients are active, the width of their batches, and whether all of it is real."""
        return zip(self.active.tolist(), self.width.tolist(), self.is_even.tolist(), strict=True)


def _rows(plan: BatchPlan) -> tuple[np.ndarray, np.ndarray]:
    """A client's batches [τ, B] of positions, short ones padded with position 0, and their sizes [τ]."""
    epochs, n = plan.orders.shape
    per_epoch = plan.steps_per_epoch
    padded = np.zeros((epochs, per_epoch * plan.batch_size), dtype=np.int64)
    padded[:, :n] = plan.orders
    sizes = np.full(per_epoch, plan.batch_size)
    sizes[-1] = n - (per_epoch - 1) * plan.batch_size
    return padded.reshape(-1, plan.batch_size)[: plan.num_steps], np.broadcast_to(sizes, (epochs, per_epoch)).reshape(
        -1
    )[: plan.num_steps]
