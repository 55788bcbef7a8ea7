"""The known mistakes in local training, which every algorithm can make."""

import numpy as np

from fedconform.formulas.local_training import Formula
from fedconform.mistakes.replacing import Mistake

DROPPED = Mistake(
    "the last short batch of an epoch is dropped",
    {
        Formula.epoch: lambda self, right, k: [
            rows for rows in right(k) if len(rows) == self.batch_size(k)
        ]
    },
)
ONE_STEP = Mistake(
    "an epoch is one step, that of its first batch",
    {Formula.epoch: lambda self, right, k: right(k)[:1]},
)
FIRST_BATCH = Mistake(
    "every step takes the first batch",
    {Formula.epoch: lambda self, right, k: right(k)[:1] * len(right(k))},
)
ONE_SAMPLE = Mistake(
    "only the first sample of each batch is used",
    {Formula.epoch: lambda self, right, k: [rows[:1] for rows in right(k)]},
)
SAMPLES = Mistake(
    "every batch has one sample, so that there are n_k steps an epoch",
    {Formula.epoch: lambda self, right, k: list(np.arange(self.task.sizes[k])[:, None])},
)
WHOLE = Mistake(
    "an epoch is one step with all samples",
    {Formula.epoch: lambda self, right, k: [np.arange(self.task.sizes[k])]},
)
FILLED_UP = Mistake(
    "the short last batch is filled up with samples from the beginning",
    {
        Formula.epoch: lambda self, right, k: [
            np.resize(np.append(rows, np.arange(self.task.sizes[k])), self.batch_size(k))
            for rows in right(k)
        ]
    },
)
SINGLETONS = Mistake(
    "batches of one sample are dropped",
    {Formula.epoch: lambda self, right, k: [rows for rows in right(k) if len(rows) > 1]},
)
ACROSS = Mistake(
    "batches run across the ends of epochs, so that there are ⌈E n_k / B⌉ steps",
    {Formula.batches: lambda self, right, k: _across(self, k, up=True)},
)
ACROSS_DOWN = Mistake(
    "batches run across the ends of epochs, so that there are ⌊E n_k / B⌋ steps",
    {Formula.batches: lambda self, right, k: _across(self, k, up=False)},
)
STEPS = Mistake(
    "E counts steps, not epochs",
    {Formula.batches: lambda self, right, k: right(k)[: self.epochs(k)]},
)
ONE_EPOCH = Mistake(
    "there is one epoch, whatever E",
    {Formula.batches: lambda self, right, k: self.epoch(k)},
)
ALL_EPOCHS = Mistake(
    "stragglers do all E epochs",
    {Formula.epochs: lambda self, right, k: self.task.epochs},
)
SUMMED = Mistake(
    "the loss of a batch is summed, not averaged",
    {Formula.batch_gradient: lambda self, right, k, y, rows: len(rows) * right(k, y, rows)},
)
FIRST_RATE = Mistake(
    "the rate of round 1 is used in every round",
    {Formula.rate: lambda self, right: self.task.lr},
)
LATE_RATE = Mistake(
    "the rate of a round is that of the round before",
    {
        Formula.rate: lambda self, right: (
            (self.task.lr, *self.task.rates)[self.number] if self.task.rates else right()
        )
    },
)
FROM_THE_LAST = Mistake(
    "a client starts where the one before it ended, not from w",
    {Formula.received: lambda self, right, k: right(k) if self.ended is None else self.ended},
)
FROM_OWN = Mistake(
    "a client goes on from its own model of an earlier round, not from w",
    {Formula.received: lambda self, right, k: self.own.get(k, right(k))},
)
KEPT = Mistake(
    "the local momentum is kept across rounds",
    {Formula.first_velocity: lambda self, right, k: self.velocities.get(k, right(k))},
)
HANDED_ON = Mistake(
    "the local momentum is handed from one client to the next",
    {
        Formula.first_velocity: lambda self, right, k: (
            right(k) if self.handed is None else self.handed
        )
    },
)
NO_MOMENTUM = Mistake(
    "the local momentum is missing",
    {Formula.momentum: lambda self, right: 0.0},
)
MOMENTUM_AS_AVERAGE = Mistake(
    "the gradient enters the local momentum with the factor 1 − m",
    {
        Formula.batch_gradient: lambda self, right, k, y, rows: (
            (1 - self.momentum()) * right(k, y, rows)
        )
    },
)


def _across(formula: Formula, k: int, up: bool) -> list[np.ndarray]:
    """Full batches over all epochs; with ``up`` the last one is filled up by a further epoch."""
    n = formula.task.sizes[k]
    size = formula.batch_size(k)
    samples = formula.epochs(k) * n
    steps = -(-samples // size) if up else samples // size
    return list(np.resize(np.arange(n), (steps, size)))
