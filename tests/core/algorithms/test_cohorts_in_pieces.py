"""Cohorts whose parameters do not fit in memory together: the same numbers, from means alone."""

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
    fl.FedAvg(),
    fl.FedProx(0.3),
    FedAvgM(),
    FedAdam(0.05),
    FedYogi(0.05),
    MimeLite(0.7),
    QFedAvg(1.5),
    PowerOfChoice(4),
    Private(fl.FedAvg(), clip=0.05, noise=0.1),
    Private(FedAvgM(), clip=0.05, noise=0.0),
]
ROWS = [FedDyn(0.5), fl.Scaffold(), fl.FedNova(), fl.FedSSO(), fl.FedMas(0.01), fl.FedCurv(0.1)]
ROWS += [Compressed(fl.FedAvg(), keep=0.3)]


@pytest.mark.parametrize("algorithm", [*MEANS, *ROWS], ids=str)
def test_the_same_numbers(algorithm: fl.Algorithm, monkeypatch) -> None:
    fed, engine = blobs((9, 5, 12, 7, 3)), ("reference", "stacked")[[*MEANS, *ROWS].index(algorithm) % 2]
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


def test_a_mean_of_pieces_never_holds_the_cohort() -> None:
    trained: list[int] = []

    def rows():
        for k in range(6):
            trained.append(k)
            yield np.array([5 - k]), torch.full((1, 2), float(5 - k))

    counts = torch.arange(1.0, 7.0)
    updates = ChunkedUpdates(np.arange(6), rows, counts, counts, torch.zeros(2))
    assert updates.weighted_mean().tolist() == pytest.approx([(counts @ torch.arange(6.0) / 21).item()] * 2)
    assert updates.mean().tolist() == pytest.approx([2.5] * 2)
    assert "params" not in vars(updates)
    assert updates.distances().tolist() == pytest.approx([k * 2**0.5 for k in range(6)])
    assert len(trained) == 12  # once for each mean; the distances were seen on the way
    assert updates.params[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
