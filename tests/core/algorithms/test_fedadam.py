"""FedAdam and FedYogi against recursions by hand, number by number."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FedAdam, FedYogi
from tests.support import blobs, path, quadratics, run, scalar_model

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


def test_yogi_takes_equal_steps_up_and_down() -> None:
    """β₁ = 0, one client that moves by exactly b − w: v falls by (1 − β₂) Δ² while it is larger, then rises."""
    seen = set()
    fed = quadratics([10.0], [1.0])  # ten steps at lr 0.1: the first lands on b
    simulation = fl.Simulation(
        fed,
        scalar_model(-1.0),
        FedYogi(server_lr=0.3, beta1=0.0, beta2=0.5, tau=0.5),
        rounds=12,
        clients_per_round=1,
        local_steps=1,
        batch_size=None,
        lr=0.1,
        loss="squared_error",
        progress=False,
    )
    w, v = simulation.model.weight.item(), 0.25
    for _ in simulation:
        square = (1.0 - w) ** 2
        seen.add(v > square)
        expected = v - 0.5 * square if v > square else v + 0.5 * square
        v = float(simulation.state_dict()["algorithm"]["v"])
        w = float(simulation.history.params)
        assert v == pytest.approx(expected, abs=1e-14)
    assert seen == {True, False}


@pytest.mark.parametrize("server_lr", [0.01, 0.5])
def test_without_memory_adam_moves_every_entry_by_its_rate(server_lr: float) -> None:
    """β₁ = β₂ = 0: v = Δ², and Δ / (|Δ| + τ) is ±1 wherever |Δ| is far above τ."""
    fed = blobs((12, 30, 7))
    model = fl.models.softmax_regression(fed, seed=1)
    settings = {"rounds": 1, "local_epochs": 2, "batch_size": 5}
    start = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    moves = run(fed, model, fl.FedAvg(), **settings).history.params - start
    adam = FedAdam(server_lr, beta1=0.0, beta2=0.0, tau=1e-15)
    found = run(fed, model, adam, **settings).history.params - start
    assert moves.abs().min() > 1e-5
    torch.testing.assert_close(found, server_lr * moves.sign(), rtol=1e-9, atol=0)


def test_with_a_large_tau_yogi_is_fedavg() -> None:
    """τ far above every |Δ| keeps v at τ², so that the step is η_g Δ / 2τ; β₂ of Adam, which forgets τ², must be near
    1 for the same."""
    fed = blobs((3, 17, 8, 30, 1))
    arguments = {"local_epochs": 2, "batch_size": 5, "rounds": 4}
    plain, yogi, adam = (
        run(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, **arguments).history.params
        for algorithm in (
            fl.FedAvg(),
            FedYogi(2e7, beta1=0.0, tau=1e7),
            FedAdam(2e7, beta1=0.0, beta2=1 - 1e-14, tau=1e7),
        )
    )
    torch.testing.assert_close(yogi, plain, rtol=0, atol=1e-11)
    torch.testing.assert_close(adam, plain, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", [FedAdam, FedYogi])
@pytest.mark.parametrize("bad", [{"server_lr": 0}, {"beta1": 1.0}, {"beta2": 1.0}, {"tau": 0.0}, {"tau": -1}])
def test_bad_hyper_parameters(kind, bad) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        kind(**{"server_lr": 0.1, **bad})
