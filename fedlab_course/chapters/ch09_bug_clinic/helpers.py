"""Patients that are no algorithms: importance, partitions, stragglers and evaluation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import fedlab_core as fl


class GaveUp(RuntimeError):
    """A loop without an end was stopped."""


def squared_mean(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The gradient of the batch is squared, and not the gradient of each sample: the mean is taken too early."""
    return _gradient(model, functional.cross_entropy(model(x), y)) ** 2


def last_batch(model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch_size: int = 8) -> torch.Tensor:
    """The loop over batches keeps what it computed for the last one only."""
    for batch in zip(x.split(batch_size), y.split(batch_size), strict=True):
        fisher = fl.importance.fisher_diagonal(model, *batch)
    return fisher


def signed_importance(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The gradients keep their signs: samples cancel, and a negative Ω rewards a parameter for moving away."""
    return _gradient(model, (model(x) ** 2).sum(1).mean())


def retry_partition(
    y: Any, *, num_clients: int, alpha: float, min_size: int = 10, patience: int = 1000
) -> tuple[list[np.ndarray], int]:
    """All is dealt anew until every client happens to have enough samples; for a small α that never happens.

    Returns the index arrays and the number of deals. The original has no ``patience``: here it raises :class:`GaveUp`.
    """
    for deal in range(1, patience + 1):
        parts = fl.partition.dirichlet(y, num_clients=num_clients, alpha=alpha, by="class", seed=deal)
        if min(map(len, parts)) >= min_size:
            return parts, deal
    raise GaveUp(f"after {patience} deals some client still has fewer than {min_size} samples")


def straggler_epochs(local_epochs: int, rng: np.random.Generator) -> int:
    """The upper end of ``integers`` is left out, so nobody does all E epochs, and E = 1 fails."""
    return int(rng.integers(1, local_epochs))


@torch.no_grad()
def mean_of_batches(model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch_size: int = 100) -> float:
    """Accuracy is averaged over batches, so a sample of the short last batch counts more than the others."""
    batches = zip(x.split(batch_size), y.split(batch_size), strict=True)
    return float(np.mean([float((model(x).argmax(1) == y).float().mean()) for x, y in batches]))


def _gradient(model: nn.Module, value: torch.Tensor) -> torch.Tensor:
    """∂ value / ∂w, flat [P]."""
    gradients = torch.autograd.grad(value, list(model.parameters()))
    return torch.cat([gradient.reshape(-1) for gradient in gradients])


HELPERS: dict[int, Callable[..., Any]] = {
    13: squared_mean,
    14: last_batch,
    15: signed_importance,
    16: retry_partition,
    17: straggler_epochs,
    18: mean_of_batches,
}
