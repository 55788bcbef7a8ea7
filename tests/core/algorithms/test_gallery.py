"""Server optimisers and FedDyn, MimeLite and q-FedAvg, written out for scalars, number by number."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FedAdam, FedAvgM, FedDyn, FedYogi, MimeLite, QFedAvg
from tests.support import blobs, limit, path, quadratics, run, scalar_model, simulation

A, B, SIZES = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0]), np.array([5, 1, 2])
FED, P = quadratics(A, B, SIZES), SIZES / SIZES.sum()
OPTIMUM = (A * B).sum() / A.sum()


def ends(w: float, lr: float = 0.1) -> np.ndarray:
    """Ten steps of gradient descent from w."""
    return B + (1 - lr * A) ** 10 * (w - B)


@pytest.mark.parametrize(("beta", "server_lr"), [(0.9, 1.0), (0.6, 0.4)])
def test_fedavgm_is_heavy_ball_on_the_weighted_change(beta: float, server_lr: float) -> None:
    w, velocity, expected = 2.0, 0.0, []
    for _ in range(15):
        velocity = beta * velocity + P @ (ends(w) - w)
        w += server_lr * velocity
        expected.append(w)
    assert path(FED, FedAvgM(beta, server_lr), rounds=15, start=2.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("chosen", [(0.3, 0.5, 0.7, 0.2), (1.0, 0.0, 0.4, 2.0)])
@pytest.mark.parametrize("kind", [FedAdam, FedYogi])
def test_fedadam_and_fedyogi(kind, chosen: tuple[float, ...]) -> None:
    """No correction of the start, v from τ², and for Yogi both signs of v − Δ²."""
    (server_lr, beta1, beta2, tau), w = chosen, 2.0
    m, v, expected = 0.0, tau**2, []
    for _ in range(25):
        delta = P @ (ends(w) - w)
        m = beta1 * m + (1 - beta1) * delta
        if kind is FedAdam:
            v = beta2 * v + (1 - beta2) * delta**2
        else:
            v = v - (1 - beta2) * delta**2 * np.sign(v - delta**2)
        w += server_lr * m / (np.sqrt(v) + tau)
        expected.append(w)
    assert path(FED, kind(*chosen), rounds=25, start=2.0) == pytest.approx(expected, abs=1e-12)


def test_feddyn_descends_with_its_regulariser() -> None:
    """Ten steps of gradient descent on F_k(y) − h_k y + μ/2 (y − w)²."""
    mu, w, h, h_clients, expected = 0.5, 2.0, 0.0, np.zeros(3), []
    for _ in range(15):
        y = np.full(3, w)
        for _ in range(10):
            y = y - 0.1 * (A * (y - B) - h_clients + mu * (y - w))
        h_clients = h_clients - mu * (y - w)
        h = h - mu * (y - w).sum() / 3
        w = y.mean() - h / mu
        expected.append(w)
    assert path(FED, FedDyn(mu), rounds=15, start=2.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("mu", "steps"), [(1.0, 5), (2.0, 20)])
def test_feddyn_reaches_the_optimum_whatever_the_sizes_the_steps_and_mu(mu: float, steps: int) -> None:
    assert limit(FED, FedDyn(mu), rounds=80, local_steps=steps) == pytest.approx(OPTIMUM, abs=1e-7)
    assert abs(limit(FED, fl.FedProx(mu), rounds=20, local_steps=steps) - OPTIMUM) > 0.05


def test_feddyn_with_sampled_cohorts_has_the_mean_of_all_h_k_and_they_become_the_gradients() -> None:
    a, b = np.linspace(0.5, 2, 4), np.linspace(-1, 2, 4)
    work = {"rounds": 110, "clients_per_round": 2, "eval_every": 110}
    sim = simulation(quadratics(a, b, [1, 2, 3, 4]), scalar_model(1.0), FedDyn(2.0), **work)
    for record in sim:
        if record.round <= 20:
            state = sim.state_dict()["algorithm"]
            torch.testing.assert_close(state["h"], state["h_clients"].mean(0), rtol=0, atol=1e-12)
            assert state["h"].abs().item() > 1e-6
    optimum = (a * b).sum() / a.sum()
    state = sim.state_dict()["algorithm"]
    assert float(sim.history.params[0]) == pytest.approx(optimum, abs=1e-8)
    assert state["h_clients"][:, 0].numpy() == pytest.approx(a * (optimum - b), abs=1e-7)


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_mimelite_steps_with_the_servers_momentum(beta: float) -> None:
    w, m, expected = 2.0, 0.0, []
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
        parts = torch.autograd.grad(torch.nn.functional.cross_entropy(model(x), y), list(model.parameters()))
        gradients.append(torch.cat([part.reshape(-1) for part in parts]))
    expected = (1 - 0.8) * torch.stack(gradients).mean(0)
    torch.testing.assert_close(found.state_dict()["algorithm"]["momentum"], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("q", "lr"), [(0.0, 0.1), (0.3, 0.1), (2.5, 0.1), (1.0, fl.InverseTime(0.2))])
def test_qfedavg(q: float, lr) -> None:
    """The two sums of its algorithm 2, at the rate of the round."""
    w, expected = 2.0, []
    for t in range(8):
        rate = lr(t) if callable(lr) else lr
        losses, lipschitz = A / 2 * (w - B) ** 2, 1 / rate
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
    """F^q alone would overflow: the loss is above 10⁵, and 10⁵ to the power 10 is beyond single precision."""
    x = torch.ones(1, 1)
    fed = fl.FederatedDataset.from_clients([(x, 1000 * x), (x, 500 * x)], test=(x, x))
    history = run(fed, torch.nn.Linear(1, 1, bias=False), QFedAvg(200.0), rounds=3).history
    assert torch.isfinite(history.params).all()
    with pytest.raises(ValueError, match=r"loss: is -.* must be ≥ 0"):
        loss = lambda output, target: (output[:, 0] - target).mean()  # noqa: E731
        run(quadratics(A, np.abs(B) + 5), scalar_model(), QFedAvg(1.0), rounds=1, loss=loss)
