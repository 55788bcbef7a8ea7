"""Server optimisers and FedDyn, MimeLite and q-FedAvg,
written out for scalars, number by number.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import MimeLite, QFedAvg
from tests.support import blobs, path, quadratics, run, scalar_model

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -2.0])
SIZES = np.array([5, 1, 2])
FED = quadratics(A, B, SIZES)
P = SIZES / SIZES.sum()
OPTIMUM = (A * B).sum() / A.sum()


def ends(w: float, lr: float = 0.1) -> np.ndarray:
    """Ten steps of gradient descent from w."""
    return B + (1 - lr * A) ** 10 * (w - B)


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_mimelite_steps_with_the_servers_momentum(beta: float) -> None:
    w = 2.0
    m = 0.0
    expected = []
    for _ in range(12):
        y = np.full(3, w)
        for _ in range(10):
            y = y - 0.1 * ((1 - beta) * A * (y - B) + beta * m)
        m = (1 - beta) * (A * (w - B)).mean() + beta * m
        w = y.mean()
        expected.append(w)
    assert path(FED, MimeLite(beta), rounds=12, start=2.0) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"local_momentum=0.5: must be 0"):
        path(FED, MimeLite(beta), rounds=1, local_momentum=0.5)


def test_mimelite_takes_full_gradients_where_the_round_began() -> None:
    """Of mini-batch runs, too, and of clients of different sizes, which count alike."""
    fed = blobs((3, 17, 8))
    model = fl.models.softmax_regression(fed, seed=1)
    found = run(fed, model, MimeLite(0.8), rounds=1, local_epochs=2, batch_size=5)
    gradients = []
    for x, y in map(fed.client, range(3)):
        parts = torch.autograd.grad(
            torch.nn.functional.cross_entropy(model(x), y), list(model.parameters())
        )
        gradients.append(torch.cat([part.reshape(-1) for part in parts]))
    expected = (1 - 0.8) * torch.stack(gradients).mean(0)
    torch.testing.assert_close(
        found.state_dict()["algorithm"]["momentum"], expected, rtol=0, atol=1e-14
    )


@pytest.mark.parametrize(
    ("q", "lr"), [(0.0, 0.1), (0.3, 0.1), (2.5, 0.1), (1.0, fl.InverseTime(0.2))]
)
def test_qfedavg(q: float, lr) -> None:
    """The two sums of its algorithm 2, at the rate of the round."""
    w = 2.0
    expected = []
    for t in range(8):
        rate = lr(t) if callable(lr) else lr
        losses = A / 2 * (w - B) ** 2
        lipschitz = 1 / rate
        d = lipschitz * (w - ends(w, rate))
        h = q * losses ** (q - 1) * d**2 + lipschitz * losses**q
        w -= (losses**q * d).sum() / h.sum()
        expected.append(w)
    assert path(FED, QFedAvg(q), rounds=8, start=2.0, lr=lr) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("q", [0.0, 0.5, 3.0])
def test_qfedavg_with_losses_of_zero(q: float) -> None:
    """One client at its optimum, then all: 0^(q − 1) has no value, and 0/0 none either."""
    for b, stays in (([2.0, 1.0], False), ([2.0, 2.0], True)):
        found = path(quadratics([1.0, 1.0], b), QFedAvg(q), rounds=2, start=2.0)
        assert np.isfinite(found).all() and (abs(found - 2.0) < 1e-12).all() == stays


def test_a_large_q_does_not_overflow_and_negative_losses_are_refused() -> None:
    """F^q alone would overflow: the loss is above 10⁵, and 10⁵ to the power 10 is beyond single
    precision.
    """
    x = torch.ones(1, 1)
    fed = fl.FederatedDataset.from_clients([(x, 1000 * x), (x, 500 * x)], test=(x, x))
    history = run(fed, torch.nn.Linear(1, 1, bias=False), QFedAvg(200.0), rounds=3).history
    assert torch.isfinite(history.params).all()
    with pytest.raises(ValueError, match=r"loss: is -.* must be ≥ 0"):
        loss = lambda output, target: (output[:, 0] - target).mean()  # noqa: E731
        run(quadratics(A, np.abs(B) + 5), scalar_model(), QFedAvg(1.0), rounds=1, loss=loss)
