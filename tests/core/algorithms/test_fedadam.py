"""FedAdam and FedYogi against recursions by hand, number by number."""

import numpy as np
import pytest

from fedlab_core.algorithms import FedAdam, FedYogi
from tests.support import path, quadratics

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])
LEFT = (1 - 0.1 * A) ** 10  # what ten steps leave of the distance to b_k


def change(w: float) -> float:
    return SIZES / SIZES.sum() @ ((1 - LEFT) * (B - w))


@pytest.mark.parametrize(
    "chosen",
    [
        {"server_lr": 0.1},
        {"server_lr": 0.3, "beta1": 0.5, "beta2": 0.7, "tau": 0.2},
        {"server_lr": 1.0, "beta1": 0.0, "beta2": 0.4, "tau": 2.0},
    ],
)
@pytest.mark.parametrize("kind", [FedAdam, FedYogi])
def test_path(kind, chosen) -> None:
    """No correction of the start, v from τ², and for Yogi both signs of v − Δ²."""
    settings = {"beta1": 0.9, "beta2": 0.99, "tau": 1e-3} | chosen
    beta1, beta2, tau, w = settings["beta1"], settings["beta2"], settings["tau"], 2.0
    m, v, expected = 0.0, tau**2, []
    for _ in range(25):
        delta = change(w)
        m = beta1 * m + (1 - beta1) * delta
        if kind is FedAdam:
            v = beta2 * v + (1 - beta2) * delta**2
        else:
            v = v - (1 - beta2) * delta**2 * np.sign(v - delta**2)
        w += settings["server_lr"] * m / (np.sqrt(v) + tau)
        expected.append(w)
    found = path(quadratics(A, B, SIZES), kind(**chosen), rounds=25, start=2.0)
    assert found == pytest.approx(expected, abs=1e-12)
