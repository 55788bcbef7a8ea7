"""Federated averaging on one page, from the cohort to the average. Every simulation runs this code.

``one_round`` is a communication round, ``local_sgd`` the training of a client in the reference
engine; the stacked engine computes the same numbers for a whole cohort at once. With the defaults
of ``Algorithm`` this is FedAvg (McMahan et al. 2017, algorithm 1); others override a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch

from fedlab_core.correction import Correction

if TYPE_CHECKING:
    from fedlab_core.algorithms.base import Algorithm
    from fedlab_core.clients.updates import LocalUpdates
    from fedlab_core.server import Server

Batch = TypeVar("Batch")


def one_round(
    server: Server,
    algorithm: Algorithm,
    train: Callable[[np.ndarray, Sequence[Correction]], LocalUpdates],
) -> None:
    """Run one round of ``algorithm`` on ``server``, which has the global parameters w.

    ``train``: clients [K] and their corrections → the updates with the local parameters y_k.
    FedAvg draws one cohort by ``draw_cohort``, corrects nothing and aggregates by ``average``.
    """
    for cohort in server.cohorts_of(algorithm):
        corrections = [algorithm.correction(server, client) for client in cohort.tolist()]
        updates = train(cohort, corrections)
        server.params = algorithm.aggregate(server, updates)
        algorithm.after_aggregation(server, updates)


def draw_cohort(clients: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw K = ``size`` of the ``clients`` without replacement, all if they are fewer."""
    return np.sort(rng.choice(clients, min(size, len(clients)), replace=False))


def local_sgd(
    params: torch.Tensor,
    batches: Iterable[Batch],
    gradient: Callable[[torch.Tensor, Batch], torch.Tensor],
    correction: Correction,
    lr: float,
) -> torch.Tensor:
    """y ← y − η v, batch after batch, from y = w = ``params``; FedAvg: v = ∇F_k(y; batch)."""
    local = params if correction.start is None else correction.start
    velocity = None
    for batch in batches:
        velocity = correction.direction(gradient(local, batch), local, velocity)
        local = local - lr * velocity
    return local


def average(params: torch.Tensor, num_samples: torch.Tensor) -> torch.Tensor:
    """Σ n_k y_k / Σ n_k [P], for ``params`` y_k [K, P] and ``num_samples`` n_k [K]."""
    return (num_samples / num_samples.sum()) @ params
