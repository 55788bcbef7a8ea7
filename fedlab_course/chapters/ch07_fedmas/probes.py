"""What clients send back when all of them train once from one model."""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import engines, losses
from fedlab_core.engines import Engine, threads
from fedlab_core.engines.work import Work

HIDDEN = {"mnist": (200,), "cifar10": (64,)}
PROBES: dict[str, dict[str, Any]] = {
    "epoch": {"unit": "epochs", "batch_size": 10},
    "full_batch": {"unit": "steps", "batch_size": None},
    "sample": {"unit": "steps", "batch_size": 1},
}


def create_engine(fed: fl.FederatedDataset, seed: int) -> Engine:
    """The engine with the initial weights of this seed."""
    model = fl.models.mlp(fed, HIDDEN.get(fed.dataset.name, (200,)), seed=seed)
    return engines.create("auto", fed, model, losses.resolve("cross_entropy"), "cpu")


def train(engine: Engine, params: torch.Tensor, kind: str, seed: int, round: int = 0) -> torch.Tensor:
    """All clients' parameters [N, P] after training from ``params`` as a probe (in round 0) or a round at rate 0.01."""
    clients = np.arange(engine.fed.num_clients)
    stream = "batches" if round else "probe"
    work = Work(clients, np.ones_like(clients), lr=0.01, round=round, seed=seed, stream=stream, **PROBES[kind])
    with threads.one_inside():
        return engine.train(params, work, [fl.Correction()] * len(clients)).params


def probe(fed: fl.FederatedDataset, kind: str, seed: int) -> torch.Tensor:
    """The clients' parameters [N, P] after one probe: an "epoch", a "full_batch" step, or a step on one "sample"."""
    engine = create_engine(fed, seed)
    return train(engine, engine.model.parameters(), kind, seed)
