"""FedAvgM: momentum of the server, against a recursion by hand."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FedAvgM
from tests.support import blobs, limit, path, quadratics, run

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])
LEFT = (1 - 0.1 * A) ** 10  # what ten steps leave of the distance to b_k


@pytest.mark.parametrize(("beta", "server_lr"), [(0.9, 1.0), (0.6, 0.4), (0.0, 1.7)])
def test_path_is_that_of_heavy_ball_on_the_weighted_change(beta: float, server_lr: float) -> None:
    p, w, velocity, expected = SIZES / SIZES.sum(), 2.0, 0.0, []
    for _ in range(15):
        velocity = beta * velocity + p @ ((1 - LEFT) * (B - w))
        w += server_lr * velocity
        expected.append(w)
    found = path(quadratics(A, B, SIZES), FedAvgM(beta, server_lr), rounds=15, start=2.0)
    assert found == pytest.approx(expected, abs=1e-12)


def test_it_ends_where_fedavg_ends() -> None:
    fed = quadratics(A, B, SIZES)
    assert limit(fed, FedAvgM(0.7), rounds=200) == pytest.approx(limit(fed, fl.FedAvg()), abs=1e-10)


def test_without_momentum_and_at_rate_one_it_is_fedavg() -> None:
    fed = blobs((3, 17, 8, 30, 1))
    arguments = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "clients_per_round": 3}
    plain, ours = (
        run(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, **arguments).history
        for algorithm in (fl.FedAvg(), FedAvgM(beta=0.0))
    )
    torch.testing.assert_close(ours.params, plain.params, rtol=0, atol=1e-14)
    assert ours.frame.bytes_up.equals(plain.frame.bytes_up) and ours.frame.bytes_down.equals(plain.frame.bytes_down)


@pytest.mark.parametrize("bad", [{"beta": 1.0}, {"beta": -0.1}, {"server_lr": 0.0}, {"server_lr": float("inf")}])
def test_bad_hyper_parameters(bad) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        FedAvgM(**bad)
