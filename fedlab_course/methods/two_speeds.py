"""Clients of two speeds: half of the labels belong to clients that always do less than the
others.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data import FederatedDataset
from fedlab_core.engines.flat import FlatModel
from fedlab_core.server import Server

LONGER = 6.3  # at μ = 10 and η = 0.05 FedNova's step over FedProx's: Σ ρ_k τ_k / Σ ρ_k τ̃_k


def deal(
    data: fl.Dataset, seed: int, *, num_clients: int = 100
) -> tuple[FederatedDataset, np.ndarray]:
    """``num_clients`` clients with two labels each, and the labels that the first half of the
    clients holds alone.

    These are half of all labels, drawn with the ``seed`` and returned in their order.
    ``num_clients`` must be even.
    """
    y = data.train.y.numpy()
    labels = np.random.default_rng(seed).permutation(np.unique(y))
    first = np.sort(labels[: len(labels) // 2])
    law = {"num_clients": num_clients // 2, "labels_per_client": 2, "seed": seed}
    parts: list[np.ndarray] = []
    for held in (np.isin(y, first), ~np.isin(y, first)):
        places = np.flatnonzero(held)
        parts += [places[part] for part in fl.partition.labels_per_client(y[places], **law)]
    return FederatedDataset(data, parts), first


@dataclass(frozen=True)
class Slowed(Wrapper):
    """``inner`` with its first ``slow`` clients doing ``amount`` epochs (or steps) in each round,
    not E.
    """

    inner: fl.Algorithm
    slow: int
    amount: int = 1

    def correction(self, server: Server, client: int) -> fl.Correction:
        found = self.inner.correction(server, client)
        return replace(found, amount=self.amount) if client < self.slow else found


@dataclass(frozen=True)
class LongerMove(Wrapper):
    """``inner`` whose server goes ``times`` as far."""

    inner: fl.Algorithm
    times: float

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        found = self.inner.aggregate(server, updates)
        return server.params + self.times * (found - server.params)


class AccuracyBySpeed:
    """To be given as ``on_round``: after each round, the accuracy on the ``slow`` labels and on the
    others.

    ``model``: the module that is trained. ``table``: a row per round, columns "slow" and "fast", in
    [0, 1].
    """

    def __init__(self, model: nn.Module, slow: np.ndarray) -> None:
        self._model = FlatModel(model)
        self._slow = torch.from_numpy(slow)
        self.table = pd.DataFrame(
            columns=["slow", "fast"], index=pd.Index([], dtype=int), dtype=float
        )

    def __call__(self, record: fl.RoundRecord, server: Server) -> None:
        x = server.fed.test.x.to(server.params.device)
        y = server.fed.test.y.cpu()
        with torch.no_grad():
            right = (self._model(server.params, x).argmax(1).cpu() == y).double()
        mine = torch.isin(y, self._slow)
        self.table.loc[record.round] = [float(right[mine].mean()), float(right[~mine].mean())]
