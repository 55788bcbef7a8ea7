"""The mini-batches of a cohort as one table of sample indices."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Self

import numpy as np

from fedlab_core.engines.work import BatchPlan


class BatchTable:
    """``indices`` int64 [S, A, B] into the data and ``counts`` [S, A] of the samples that are not
    padding.

    ``steps``: (active, width, is_even) of each step: the number of ``active`` clients, which come
    first because clients are sorted by steps; the ``width`` of their batches; whether there is no
    padding.
    """

    def __init__(self, plans: Sequence[BatchPlan], samples: Sequence[np.ndarray]) -> None:
        steps = np.array([plan.num_steps for plan in plans])
        total = int(steps[0])
        batch = max(plan.batch_size for plan in plans)
        self.indices = np.zeros((total, len(plans), batch), dtype=np.int64)
        self.counts = np.zeros((total, len(plans)), dtype=np.int64)
        groups = defaultdict(list)
        for k, plan in enumerate(plans):
            groups[plan.num_steps, plan.batch_size, plan.orders.shape].append(k)
        # plans of the same shape are cut together
        for (taken, size, (epochs, n)), alike in groups.items():
            per_epoch = plans[alike[0]].steps_per_epoch
            # sample 0 is padding
            cut = np.zeros((len(alike), epochs, per_epoch * size), dtype=np.int64)
            cut[:, :, :n] = [samples[k][plans[k].orders] for k in alike]
            self.indices[:taken, alike, :size] = cut.reshape(len(alike), -1, size)[
                :, :taken
            ].swapaxes(0, 1)
            sizes = np.minimum(size, n - size * np.arange(per_epoch))
            self.counts[:taken, alike] = np.tile(sizes, epochs)[:taken, None]
        active = (np.arange(total)[:, None] < steps).sum(1)
        width = self.counts.max(1)
        is_even = ((self.counts == 0) | (self.counts == width[:, None])).all(1)
        self.steps = list(zip(active.tolist(), width.tolist(), is_even.tolist(), strict=True))

    @classmethod
    def whole(cls, samples: Sequence[np.ndarray]) -> Self:
        """One step that uses every sample of every client."""
        return cls(
            [BatchPlan(np.arange(len(own))[None], len(own), num_steps=1) for own in samples],
            samples,
        )
