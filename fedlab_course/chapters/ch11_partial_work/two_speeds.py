"""Clients of two speeds: half of the labels belong to clients that always do less than the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data import FederatedDataset
from fedlab_core.engines.flat import FlatModel
from fedlab_core.server import Server
from fedlab_core.settings import Settings


def deal(data: fl.Dataset, seed: int, *, num_clients: int = 100) -> tuple[FederatedDataset, np.ndarray]:
    """``num_clients`` clients with two labels each, and the labels that the first half of the clients holds alone.

    These are half of all labels, drawn with the ``seed`` and returned in their order. ``num_clients`` must be even.
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
class Slowed(fl.Algorithm):
    """The algorithm ``rule`` with its first ``slow`` clients doing ``amount`` epochs (or steps) in each round, not E.

    ``rule`` must differ from FedAvg in its correction and its average alone, as FedProx and FedNova do.
    """

    rule: fl.Algorithm
    slow: int
    amount: int = 1

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        self.rule.check(fed, settings)

    def correction(self, server: Server, client: int) -> fl.Correction:
        found = self.rule.correction(server, client)
        return replace(found, amount=self.amount) if client < self.slow else found

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return self.rule.aggregate(server, updates)


class AccuracyBySpeed:
    """To be given as ``on_round``: after each round, the accuracy on the ``slow`` labels and on the others.

    ``model``: the module that is trained. ``table``: a row per round, columns "slow" and "fast", in [0, 1].
    """

    def __init__(self, model: nn.Module, slow: Sequence[int] | np.ndarray) -> None:
        self._model, self._slow = FlatModel(model), torch.as_tensor(slow)
        self._seen: list[tuple[float, float]] = []

    def __call__(self, record: fl.RoundRecord, server: Server) -> None:
        x, y = server.fed.test.x.to(server.params.device), server.fed.test.y.cpu()
        with torch.no_grad():
            right = (self._model(server.params, x).argmax(1).cpu() == y).double()
        mine = torch.isin(y, self._slow)
        self._seen.append((float(right[mine].mean()), float(right[~mine].mean())))

    @property
    def table(self) -> pd.DataFrame:
        return pd.DataFrame(self._seen, columns=["slow", "fast"], index=pd.RangeIndex(1, len(self._seen) + 1))
