"""FedDyn: it ends at the optimum of the unweighted objective, and h is the mean of the h_k all the way."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FedDyn
from tests.support import limit, path, quadratics, scalar_model, simulation

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])
OPTIMUM = (A * B).sum() / A.sum()


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_path(mu: float) -> None:
    """Ten steps of gradient descent on F_k(y) − h_k y + μ/2 (y − w)²."""
    w, h, h_clients, expected = 2.0, 0.0, np.zeros(3), []
    for _ in range(15):
        y = np.full(3, w)
        for _ in range(10):
            y = y - 0.1 * (A * (y - B) - h_clients + mu * (y - w))
        h_clients = h_clients - mu * (y - w)
        h = h - mu * (y - w).sum() / 3
        w = y.mean() - h / mu
        expected.append(w)
    assert path(quadratics(A, B, SIZES), FedDyn(mu), rounds=15, start=2.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("mu", "steps"), [(1.0, 5), (2.0, 20), (5.0, 3)])
def test_it_reaches_the_optimum_whatever_the_sizes_the_steps_and_mu(mu: float, steps: int) -> None:
    fed = quadratics(A, B, SIZES)
    assert limit(fed, FedDyn(mu), rounds=100, local_steps=steps) == pytest.approx(OPTIMUM, abs=1e-9)
    assert abs(limit(fed, fl.FedProx(mu), rounds=60, local_steps=steps) - OPTIMUM) > 0.05


def test_with_sampled_cohorts_h_is_the_mean_over_all_and_h_k_become_the_gradients() -> None:
    a, b = np.linspace(0.5, 2, 4), np.linspace(-1, 2, 4)
    work = {"rounds": 110, "clients_per_round": 2, "eval_every": 110}
    sim = simulation(quadratics(a, b, [1, 2, 3, 4]), scalar_model(1.0), FedDyn(2.0), **work)
    w, controls = torch.ones(1, dtype=torch.float64), torch.zeros(4, 1, dtype=torch.float64)
    for record in sim:
        if record.round <= 20:
            state = sim.state_dict()["algorithm"]
            torch.testing.assert_close(state["h"], state["h_clients"].mean(0), rtol=0, atol=1e-12)
            assert state["h"].abs().item() > 1e-6
            moves = (controls - state["h_clients"]) / 2.0  # h_k falls by μ (y_k − w), of those who trained
            assert (moves != 0).sum() == 2
            w, controls = w + moves.sum() / 2 - state["h"] / 2.0, state["h_clients"].clone()
            torch.testing.assert_close(sim.history.params, w, rtol=0, atol=1e-12)
    optimum = (a * b).sum() / a.sum()
    state = sim.state_dict()["algorithm"]
    assert float(sim.history.params[0]) == pytest.approx(optimum, abs=1e-8)
    assert state["h_clients"][:, 0].numpy() == pytest.approx(a * (optimum - b), abs=1e-7)
