"""q-FedAvg: the two sums of its algorithm 2, written out for scalars."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import QFedAvg
from tests.support import blobs, path, quadratics, run, scalar_model

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


def test_one_client_on_a_parabola_goes_half_way_to_its_optimum() -> None:
    """q = 1, a = 1/η, one step: y = b, d = L(w − b), h = d² + L·F = 3/2 d², so w moves by F·d / h = (w − b) / 3."""
    found = path(quadratics([10.0], [1.0]), QFedAvg(1.0), rounds=3, start=4.0, local_steps=1)
    assert found == pytest.approx([1 + 3 * (2 / 3) ** t for t in (1, 2, 3)], abs=1e-12)


def test_q_zero_is_the_unweighted_mean_and_fedavg_for_equal_clients() -> None:
    arguments = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "clients_per_round": 3}
    for sizes, same in (((12, 12, 12, 12), True), ((3, 17, 8, 30), False)):
        fed = blobs(sizes)
        plain, ours = (
            run(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, **arguments).history
            for algorithm in (fl.FedAvg(), QFedAvg(0.0))
        )
        assert ((ours.params - plain.params).abs().max() < 1e-14) == same
        count = 3 * len(plain.params)
        assert ours.frame.bytes_down.equals(plain.frame.bytes_down)
        assert ours.frame.bytes_up.tolist() == [(count + 3) * 8 * t for t in (1, 2, 3, 4)]


def test_a_larger_q_lowers_the_largest_loss() -> None:
    """Between b = 0 (a = 1) and b = 1 (a = 3), the largest loss is least where (w)² = 3 (1 − w)², at 0.634."""
    ends = [path(quadratics([1.0, 3.0], [0.0, 1.0]), QFedAvg(q), rounds=400, local_steps=1)[-1] for q in (0, 1, 8)]
    optimum, even = 0.75, 3**0.5 / (1 + 3**0.5)
    assert ends[0] == pytest.approx(optimum, abs=1e-9)
    assert optimum > ends[1] > ends[2] > even
    # q = 1: the stationary point of Σ F², a²(w − b)³ summed: w³ = 9 (1 − w)³
    assert ends[1] == pytest.approx(9 ** (1 / 3) / (1 + 9 ** (1 / 3)), abs=1e-6)


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


@pytest.mark.parametrize("bad", [-0.1, float("nan"), None])
def test_bad_hyper_parameters(bad) -> None:
    with pytest.raises(ValueError, match="q="):
        QFedAvg(bad)
