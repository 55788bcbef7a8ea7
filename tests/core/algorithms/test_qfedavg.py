"""q-FedAvg: the two sums of its algorithm 2, written out for scalars."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import QFedAvg
from tests.support import path, quadratics, run, scalar_model

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])


def expected_path(q: float, rates: list[float], start: float) -> list[float]:
    w, found = start, []
    for lr in rates:
        losses, lipschitz = A / 2 * (w - B) ** 2, 1 / lr
        d = lipschitz * (w - (B + (w - B) * (1 - lr * A) ** 10))
        h = q * losses ** (q - 1) * d**2 + lipschitz * losses**q
        w -= (losses**q * d).sum() / h.sum()
        found.append(w)
    return found


@pytest.mark.parametrize("q", [0.0, 0.3, 1.0, 2.5])
def test_path(q: float) -> None:
    found = path(quadratics(A, B, SIZES), QFedAvg(q), rounds=12, start=2.0)
    assert found == pytest.approx(expected_path(q, [0.1] * 12, 2.0), abs=1e-12)


def test_the_rate_is_that_of_the_round() -> None:
    found = path(quadratics(A, B, SIZES), QFedAvg(1.0), rounds=6, start=2.0, lr=fl.InverseTime(0.2))
    assert found == pytest.approx(expected_path(1.0, [0.2 / (1 + t) for t in range(6)], 2.0), abs=1e-12)


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0, 3.0])
def test_losses_of_zero_leave_numbers(q: float) -> None:
    """One client at its optimum, then all: 0^(q − 1) has no value, and 0/0 none either."""
    for b, stays in (([2.0, 1.0], False), ([2.0, 2.0], True)):
        found = path(quadratics([1.0, 1.0], b), QFedAvg(q), rounds=2, start=2.0)
        assert np.isfinite(found).all() and (abs(found - 2.0) < 1e-12).all() == stays


def test_a_large_q_does_not_overflow() -> None:
    """F^q alone would: the loss is above 10⁵, and 10⁵ to the power 10 is beyond single precision."""
    x = torch.ones(1, 1)
    fed = fl.FederatedDataset.from_clients([(x, 1000 * x), (x, 500 * x)], test=(x, x))
    history = run(fed, torch.nn.Linear(1, 1, bias=False), QFedAvg(200.0), rounds=3).history
    assert torch.isfinite(history.params).all()


def test_negative_losses_are_refused() -> None:
    loss = lambda output, target: (output[:, 0] - target).mean()  # noqa: E731
    with pytest.raises(ValueError, match=r"loss: is -.* must be ≥ 0"):
        run(quadratics(A, np.abs(B) + 5), scalar_model(), QFedAvg(1.0), rounds=1, loss=loss)
