"""The gallery with cohorts whose parameters do not fit in memory together: the same numbers, from means alone."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import (
    Compressed,
    FedAdam,
    FedAvgM,
    FedDyn,
    FedYogi,
    MimeLite,
    PowerOfChoice,
    Private,
    QFedAvg,
)
from fedlab_core.clients.updates import ChunkedUpdates
from tests.support import blobs, run

MEANS = [
    FedAvgM(),
    FedAdam(0.05),
    FedYogi(0.05),
    MimeLite(0.7),
    QFedAvg(1.5),
    PowerOfChoice(4),
    Private(fl.FedAvg(), clip=0.05, noise=0.1),
    Private(FedAvgM(), clip=0.05, noise=0.0),
]


@pytest.mark.parametrize("engine", ["reference", "stacked"])
@pytest.mark.parametrize("algorithm", [*MEANS, FedDyn(0.5), Compressed(fl.FedAvg(), keep=0.3)], ids=str)
def test_the_same_numbers(algorithm: fl.Algorithm, engine: str, monkeypatch) -> None:
    fed = blobs((9, 5, 12, 7, 3))
    work = {"rounds": 3, "clients_per_round": 4, "local_epochs": 1, "batch_size": 4, "engine": engine}
    whole = run(fed, fl.models.mlp(fed, (4,), seed=1), algorithm, **work).history
    monkeypatch.setattr("fedlab_core.engines.base.AT_ONCE_BYTES", 0)
    if algorithm in MEANS:

        def refuse(self, name: str):
            assert name != "params", "asked for the parameters of all clients"
            raise AttributeError(name)

        monkeypatch.setattr(ChunkedUpdates, "__getattr__", refuse)
    pieces = run(fed, fl.models.mlp(fed, (4,), seed=1), algorithm, **work).history
    torch.testing.assert_close(pieces.params, whole.params, rtol=0, atol=1e-12)
    assert pieces.frame.drift.to_numpy() == pytest.approx(whole.frame.drift.to_numpy(), abs=1e-12)


def test_an_unweighted_mean_of_updates() -> None:
    fed = blobs((9, 5, 12))
    simulation = run(fed, fl.models.softmax_regression(fed), fl.FedAvg(), rounds=1)
    updates = simulation._server.probe(np.arange(3), lr=0.1, batch_size=4, epochs=1)
    torch.testing.assert_close(updates.mean(), updates.params.mean(0), rtol=0, atol=1e-15)
    assert (updates.mean() - updates.weighted_mean()).abs().max() > 1e-3
