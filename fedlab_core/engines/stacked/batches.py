"""The mini-batches of a cohort as one table of sample indices."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from fedlab_core.engines.work import BatchPlan


class BatchTable:
    """``indices`` int64 [S, A, B] into the data and ``counts`` [S, A] of those that are real, not padding.

    ``steps`` (active, width, is_even) for each step: clients come in decreasing order of steps, so the ``active`` ones
    are the first; the ``width`` of their batches; and whether all of it is real, so that ``counts`` need not be read.
    """

    def __init__(self, plans: Sequence[BatchPlan], samples: Sequence[np.ndarray]) -> None:
        steps = np.array([plan.num_steps for plan in plans])
        total, batch = int(steps[0]), max(plan.batch_size for plan in plans)
        self.indices = np.zeros((total, len(plans), batch), dtype=np.int64)
        self.counts = np.zeros((total, len(plans)), dtype=np.int64)
        for alike in _alike(plans):
            first = plans[alike[0]]
            own = np.stack([samples[k][plans[k].orders] for k in alike])
            self.indices[: first.num_steps, alike, : first.batch_size] = _cut(first, own).swapaxes(0, 1)
            self.counts[: first.num_steps, alike] = _batch_sizes(first)[:, None]
        active = (np.arange(total)[:, None] < steps).sum(1)
        width = self.counts.max(1)
        is_even = ((self.counts == 0) | (self.counts == width[:, None])).all(1)
        self.steps = list(zip(active.tolist(), width.tolist(), is_even.tolist(), strict=True))

    @classmethod
    def whole(cls, samples: Sequence[np.ndarray]) -> Self:
        """One step that uses every sample of every client."""
        return cls([BatchPlan(np.arange(len(own))[None], len(own), num_steps=1) for own in samples], samples)


def _alike(plans: Sequence[BatchPlan]) -> list[list[int]]:
    """The positions of plans of one shape together, so that they are cut into batches together."""
    groups: dict[tuple[int, int, int], list[int]] = {}
    for k, plan in enumerate(plans):
        groups.setdefault((plan.num_steps, plan.batch_size, plan.orders.shape[1]), []).append(k)
    return list(groups.values())


def _cut(plan: BatchPlan, samples: np.ndarray) -> np.ndarray:
    """``samples`` [k, epochs, n] in their order, as batches [k, τ, B]; short ones are padded with sample 0."""
    clients, epochs, n = samples.shape
    padded = np.zeros((clients, epochs, plan.steps_per_epoch * plan.batch_size), dtype=np.int64)
    padded[:, :, :n] = samples
    return padded.reshape(clients, -1, plan.batch_size)[:, : plan.num_steps]


def _batch_sizes(plan: BatchPlan) -> np.ndarray:
    """How many samples each batch has, [τ]."""
    epochs, n = plan.orders.shape
    sizes = np.minimum(plan.batch_size, n - plan.batch_size * np.arange(plan.steps_per_epoch))
    return np.tile(sizes, epochs)[: plan.num_steps]
