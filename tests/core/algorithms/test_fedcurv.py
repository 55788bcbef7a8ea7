"""FedCurv against closed forms on quadratics and on softmax regression."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.support import blobs, path, quadratics

A = np.array([1.0, 3.0, 0.5, 2.0, 1.5])
B = np.array([0.0, 1.0, -2.0, 4.0, 2.0])
LR = 0.05
STEPS = 7
STRENGTH = 0.01


def simulation(**changes) -> fl.Simulation:
    fed = blobs((3, 17, 8, 30, 1, 12), dtype=changes.pop("dtype", torch.float64))
    arguments = {
        "rounds": 6,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    algorithm = changes.pop("algorithm", fl.FedCurv(0.5))
    return fl.Simulation(
        fed, fl.models.softmax_regression(fed, seed=2), algorithm, **(arguments | changes)
    )


def test_the_penalty_is_never_negative() -> None:
    """A client that was absent has no share to subtract; rounding must not make the difference
    negative either.
    """
    sim = simulation(dtype=torch.float32, rounds=12)
    for _ in sim:
        state = sim.state_dict()["algorithm"]
        assert (state["u"] - state["fisher"] >= 0).all()
        assert state["u"].max() > 0


@pytest.mark.parametrize("step", ["explicit", "implicit"])
def test_bytes_are_two_and_a_half_times_those_of_fedavg(step: str) -> None:
    """With either step of the penalty."""
    frame = simulation(rounds=3, algorithm=fl.FedCurv(0.5, penalty_step=step)).run().frame
    size = 3 * 15 * 8
    assert frame.bytes_down.tolist() == [size, 4 * size, 7 * size]
    assert frame.bytes_up.tolist() == [2 * size, 4 * size, 6 * size]
    free = simulation(rounds=3, algorithm=fl.FedCurv(0.0)).run().frame
    assert free.bytes_down.tolist() == free.bytes_up.tolist() == [size, 2 * size, 3 * size]


def rounds_of(strength: float, step: str, local_steps: int) -> np.ndarray:
    """Two clients, both in every cohort; the global parameter after round 1 and round 2."""
    algorithm = fl.FedCurv(strength, penalty_step=step)
    arguments = {"rounds": 2, "local_steps": local_steps, "lr": LR, "start": 1.5}
    return path(quadratics(A[:2], B[:2]), algorithm, **arguments)


def test_both_steps_rest_at_the_minimum_of_loss_and_penalty() -> None:
    """Client k goes to b_k first. Its Fisher there is (a (y − b))² = 0, so the first clients stop a
    little before.
    """
    y = B[:2] + (1.5 - B[:2]) * (1 - LR * A[:2]) ** 3  # after three steps of round 1
    fisher = (A[:2] * (y - B[:2])) ** 2
    w = y.mean()
    other = slice(None, None, -1)
    pull = 2 * 5.0 * fisher[other]
    rest = (A[:2] * B[:2] + pull * y[other]) / (A[:2] + pull)
    rate = 1 - LR * (A[:2] + pull)
    explicit = rest + (w - rest) * rate**3
    implicit = rest + (w - rest) * ((1 - LR * A[:2]) / (1 + LR * pull)) ** 3
    assert rounds_of(5.0, "explicit", 3)[-1] == pytest.approx(explicit.mean(), abs=1e-12)
    assert rounds_of(5.0, "implicit", 3)[-1] == pytest.approx(implicit.mean(), abs=1e-12)


def test_the_implicit_step_is_stable_for_every_strength() -> None:
    """A client with an overwhelming penalty goes to where the other one stopped in round 1."""
    y = B[:2] + (1.5 - B[:2]) * (1 - LR * A[:2]) ** 3
    assert rounds_of(1e12, "implicit", 3)[-1] == pytest.approx(y.mean(), abs=1e-6)
