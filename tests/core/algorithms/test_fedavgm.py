"""FedAvgM: momentum of the server, against a recursion by hand."""

import numpy as np
import pytest

from fedlab_core.algorithms import FedAvgM
from tests.support import path, quadratics

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
