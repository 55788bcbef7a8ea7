"""FedCurv against closed forms on quadratics and on softmax regression."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests import support
from tests.support import blobs, quadratics, scalar_model

A, B = np.array([1.0, 3.0, 0.5, 2.0, 1.5]), np.array([0.0, 1.0, -2.0, 4.0, 2.0])
LR, STEPS, STRENGTH = 0.05, 7, 0.01


def simulation(**changes) -> fl.Simulation:
    fed = blobs((3, 17, 8, 30, 1, 12), dtype=changes.pop("dtype", torch.float64))
    arguments = {"rounds": 6, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "lr": 0.1, "progress": False}
    algorithm = changes.pop("algorithm", fl.FedCurv(0.5))
    return fl.Simulation(fed, fl.models.softmax_regression(fed, seed=2), algorithm, **(arguments | changes))


@pytest.mark.parametrize("clients_per_round", [5, 2])
def test_every_round_in_closed_form(clients_per_round: int) -> None:
    """x ← x* + (1 − η(a + 2λU))^K (x − x*) with x* = (ab + 2λV)/(a + 2λU).

    U and V leave out a client's own share, if it has one. Here I_j = a_j² (θ_j − b_j)². With 2 of 5
    clients, most of those drawn were not there in the round before.
    """
    fed = quadratics(A, B)
    arguments = {"rounds": 9, "local_steps": STEPS, "lr": LR, "clients_per_round": clients_per_round}
    sim = support.simulation(fed, scalar_model(1.5), fl.FedCurv(STRENGTH), **arguments)
    w, shares, returned, absent = 1.5, {}, 0, 0
    for _ in sim:
        cohort = np.flatnonzero(sim.state_dict()["algorithm"]["fisher"].any(1).numpy())
        assert len(cohort) == clients_per_round
        ends = {}
        for k in cohort:
            own, others = k in shares, [shares[j] for j in shares if j != k]
            returned, absent = returned + own, absent + (bool(shares) and not own)
            u, v = sum(i for i, _ in others), sum(i * theta for i, theta in others)
            curvature = A[k] + 2 * STRENGTH * u
            optimum = (A[k] * B[k] + 2 * STRENGTH * v) / curvature
            ends[k] = optimum + (1 - LR * curvature) ** STEPS * (w - optimum)
        w = np.mean(list(ends.values()))
        shares = {k: ((A[k] * (theta - B[k])) ** 2, theta) for k, theta in ends.items()}
        assert float(sim.history.params[0]) == pytest.approx(w, abs=1e-12)
        state = sim.state_dict()["algorithm"]
        assert state["u"].item() == pytest.approx(sum(i for i, _ in shares.values()), abs=1e-11)
        assert state["v"].item() == pytest.approx(sum(i * theta for i, theta in shares.values()), abs=1e-11)
    assert returned > 0 and (absent > 0) == (clients_per_round == 2)


def test_the_fisher_is_the_mean_of_squares_over_all_samples_at_the_local_parameters() -> None:
    """One client per round: its local parameters are the next global ones."""
    sim = simulation(clients_per_round=1)
    for _ in range(4):
        next(sim)
        state, params = sim.state_dict()["algorithm"], sim.history.params
        (client,) = np.flatnonzero(state["fisher"].any(1).numpy())
        x, y = sim.fed.client(client)
        weight, bias = params[:12].view(3, 4), params[12:]
        error = torch.softmax(x @ weight.T + bias, 1) - torch.nn.functional.one_hot(y, 3)
        gradients = torch.cat([(error[:, :, None] * x[:, None]).flatten(1), error], 1)
        torch.testing.assert_close(state["fisher"][client], gradients.square().mean(0), rtol=0, atol=1e-14)
        torch.testing.assert_close(state["fisher_params"][client], state["fisher"][client] * params)


def test_the_penalty_is_never_negative() -> None:
    """A client that was absent has no share to subtract; rounding must not make the difference negative either."""
    sim = simulation(dtype=torch.float32, rounds=12)
    for _ in sim:
        state = sim.state_dict()["algorithm"]
        assert (state["u"] - state["fisher"] >= 0).all()
        assert state["u"].max() > 0


def test_bytes_are_two_and_a_half_times_those_of_fedavg() -> None:
    frame, size = simulation(rounds=3).run().frame, 3 * 15 * 8
    assert frame.bytes_down.tolist() == [size, 4 * size, 7 * size]
    assert frame.bytes_up.tolist() == [2 * size, 4 * size, 6 * size]
    free = simulation(rounds=3, algorithm=fl.FedCurv(0.0)).run().frame
    assert free.bytes_down.tolist() == free.bytes_up.tolist() == [size, 2 * size, 3 * size]
