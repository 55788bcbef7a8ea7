"""The work of a cohort: the amount of local training, and the order of the samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedlab_core.randomness import client_streams


@dataclass(frozen=True)
class Work:
    """Local training of one cohort in one round.

    ``clients`` [K]; ``amount`` ≥ 1 [K] epochs or steps (``unit``) of each; ``batch_size`` None is
    full batch; ``stream``: the random stream that orders the samples.
    """

    clients: np.ndarray
    amount: np.ndarray
    unit: str
    batch_size: int | None
    lr: float
    round: int
    seed: int
    stream: str = "batches"


@dataclass(frozen=True)
class BatchPlan:
    """The mini-batches of one client: ``orders`` [epochs, n], cut by ``batch_size``, the last one
    short.
    """

    orders: np.ndarray
    batch_size: int
    num_steps: int

    @property
    def steps_per_epoch(self) -> int:
        """⌈n / B⌉, with the last short batch."""
        return -(-self.orders.shape[1] // self.batch_size)

    def batch(self, step: int) -> np.ndarray:
        """The positions among the client's samples of step ``step``, from 0."""
        epoch, place = divmod(step, self.steps_per_epoch)
        return self.orders[epoch, place * self.batch_size : (place + 1) * self.batch_size]


def plan_batches(work: Work, num_samples: Sequence[int]) -> list[BatchPlan]:
    """The batches of every client of the cohort, with ``num_samples`` samples [K].

    Each epoch is a new permutation from the client's stream of this round; the last epoch may end
    early.
    """
    streams = client_streams(
        work.seed, work.stream, round=work.round, clients=work.clients.tolist()
    )
    plans = []
    for amount, n, rng in zip(work.amount.tolist(), num_samples, streams, strict=True):
        batch_size = min(n, work.batch_size or n)
        per_epoch = -(-n // batch_size)
        num_steps = amount * per_epoch if work.unit == "epochs" else amount
        orders = np.broadcast_to(np.arange(n), (-(-num_steps // per_epoch), n))
        if batch_size < n:
            orders = rng.permuted(orders, axis=1)
        plans.append(BatchPlan(orders, batch_size, num_steps))
    return plans
