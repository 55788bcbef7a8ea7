"""What clients send back when all of them train once from one model."""

from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core import engines, losses
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.engines import threads
from fedlab_core.engines.work import Work

HIDDEN = {"mnist": (200,), "cifar10": (64,)}
ONE_EPOCH: dict[str, Any] = {
    "unit": "epochs",
    "batch_size": 10,
    "lr": 0.01,
    "round": 0,
    "seed": 0,
    "stream": "probe",
}
PROBES: dict[str, dict[str, Any]] = {
    "epoch": {},
    "full_batch": {"unit": "steps", "batch_size": None},
    "sample": {"unit": "steps", "batch_size": 1},
}


def network(fed: fl.FederatedDataset, seed: int) -> nn.Module:
    """A multilayer perceptron with the initial weights of this seed."""
    return fl.models.mlp(fed, HIDDEN.get(fed.dataset.name, (200,)), seed=seed)


def train(
    fed: fl.FederatedDataset,
    model: nn.Module,
    start: torch.Tensor | None = None,
    *,
    amount: int = 1,
    **work: Any,
) -> LocalUpdates:
    """Train all clients from ``start`` [P], or from the weights of ``model``, for an ``amount`` of
    epochs or steps.

    ``work``: what differs from ``ONE_EPOCH``, the probe of FedSSO.
    """
    engine = engines.create("auto", fed, model, losses.resolve("cross_entropy"), "cpu")
    params = engine.model.parameters() if start is None else start
    clients = np.arange(fed.num_clients)
    amounts = np.full(len(clients), amount)
    with threads.one_inside():
        return engine.train(
            params, Work(clients, amounts, **ONE_EPOCH | work), [fl.Correction()] * len(clients)
        )


def probe(fed: fl.FederatedDataset, kind: str, seed: int) -> torch.Tensor:
    """The clients' parameters [N, P] after one probe: an "epoch", a "full_batch" step, or a step on
    one "sample".
    """
    return train(fed, network(fed, seed), seed=seed, **PROBES[kind]).params
