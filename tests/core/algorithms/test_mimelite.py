"""MimeLite: the server's momentum in every local step, from full-batch gradients where the round began."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import MimeLite
from tests.support import blobs, path, quadratics, run

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_path(beta: float) -> None:
    w, m, expected = 2.0, 0.0, []
    for _ in range(12):
        y = np.full(3, w)
        for _ in range(10):
            y = y - 0.1 * ((1 - beta) * A * (y - B) + beta * m)
        m = (1 - beta) * (A * (w - B)).mean() + beta * m
        w = y.mean()
        expected.append(w)
    assert path(quadratics(A, B, SIZES), MimeLite(beta), rounds=12, start=2.0) == pytest.approx(expected, abs=1e-12)


def test_momentum_is_of_full_gradients_where_the_round_began() -> None:
    """Of mini-batch runs, too, and of clients of different sizes, which count alike."""
    fed = blobs((3, 17, 8))
    model = fl.models.softmax_regression(fed, seed=1)
    simulation = run(fed, model, MimeLite(0.8), rounds=1, local_epochs=2, batch_size=5)
    gradients = []
    for k in range(3):
        x, y = fed.client(k)
        found = torch.autograd.grad(torch.nn.functional.cross_entropy(model(x), y), list(model.parameters()))
        gradients.append(torch.cat([g.reshape(-1) for g in found]))
    expected = (1 - 0.8) * torch.stack(gradients).mean(0)
    torch.testing.assert_close(simulation.state_dict()["algorithm"]["momentum"], expected, rtol=0, atol=1e-14)


def test_chunks_of_gradients_do_not_change_it(monkeypatch) -> None:
    fed = blobs((3, 17, 8, 30, 1))
    arguments = {"rounds": 3, "local_epochs": 1, "batch_size": 5}
    whole = run(fed, fl.models.mlp(fed, (6,)), MimeLite(0.8), **arguments).history.params
    monkeypatch.setattr("fedlab_core.algorithms.mimelite.CHUNK_VALUES", 100)
    parts = run(fed, fl.models.mlp(fed, (6,)), MimeLite(0.8), **arguments).history.params
    torch.testing.assert_close(parts, whole, rtol=0, atol=1e-13)


def test_local_momentum_is_refused() -> None:
    with pytest.raises(ValueError, match=r"local_momentum=0.5: must be 0"):
        run(quadratics(A, B), torch.nn.Linear(1, 1).double(), MimeLite(0.9), rounds=1, local_momentum=0.5)
