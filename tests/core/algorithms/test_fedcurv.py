"""FedCurv against closed forms on quadratics and on softmax regression."""

import numpy as np
import torch

import fedlab_core as fl
from tests.support import blobs

A, B = np.array([1.0, 3.0, 0.5, 2.0, 1.5]), np.array([0.0, 1.0, -2.0, 4.0, 2.0])
LR, STEPS, STRENGTH = 0.05, 7, 0.01


def simulation(**changes) -> fl.Simulation:
    fed = blobs((3, 17, 8, 30, 1, 12), dtype=changes.pop("dtype", torch.float64))
    arguments = {"rounds": 6, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "lr": 0.1, "progress": False}
    algorithm = changes.pop("algorithm", fl.FedCurv(0.5))
    return fl.Simulation(fed, fl.models.softmax_regression(fed, seed=2), algorithm, **(arguments | changes))


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
