"""The formulas of the conformance suite against closed forms, written out by hand, and against PyTorch's gradients."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from fedlab_core.conformance import averaging, controls, penalties, servers
from fedlab_core.conformance.entries import ENTRIES
from fedlab_core.conformance.local import gradient, loss, sample_gradients
from fedlab_core.conformance.task import SETTINGS, Task, make

A, B, RATE, STEPS = np.array([1.0, 3.0]), np.array([0.0, 1.0]), 0.1, 10
Q = (1 - RATE * A) ** STEPS  # what is left of the distance to b after the local steps
BEST = 0.75  # of the mean of a/2 (w − b)²


def quadratics(
    name: str, rounds: int, a: Sequence[float] = A, b: Sequence[float] = B, cohorts: object = None, **parameters: object
) -> Task:
    """Clients a/2 (w − b)² with one sample each, from w = 2, which all take part."""
    x = tuple(np.array([[value**0.5]]) for value in a)
    y = tuple(np.array([value**0.5 * target]) for value, target in zip(a, b, strict=True))
    everybody = (tuple(range(len(a))),) * rounds
    return Task(name, "quadratic", "", x, y, np.array([2.0]), cohorts or everybody, STEPS, None, RATE, 0.0, parameters)


def last(formula, task: Task) -> float:
    return list(formula(task, ()))[-1]["w"].item()


@pytest.mark.parametrize("kind", ["quadratic", "linear", "softmax"])
def test_losses_and_gradients_are_those_of_pytorch(kind: str) -> None:
    task = make("FedAvg", kind, SETTINGS[1], {})
    model, (x, y) = task.model(), task.data(2)
    value = task.loss(model(x), y)
    expected = torch.cat([one.flatten() for one in torch.autograd.grad(value, list(model.parameters()))])
    np.testing.assert_allclose(gradient(task, 2, task.start), expected, atol=1e-12)
    np.testing.assert_allclose(loss(task, 2, task.start), value.item(), atol=1e-12)
    assert np.ptp(sample_gradients(task, 2, task.start), axis=0).min() > 0.01  # different samples


def test_fixed_points_on_two_quadratics() -> None:
    """spec: FedAvg Σ(1−q)b / Σ(1−q); FedProx with s = (1 − (1−η(a+μ))^K) a/(a+μ); SCAFFOLD and FedDyn the optimum."""
    assert last(averaging.fedavg, quadratics("FedAvg", 200)) == pytest.approx(0.5987111211, abs=1e-9)
    s = (1 - (1 - RATE * (A + 2)) ** STEPS) * A / (A + 2)
    assert last(averaging.fedprox, quadratics("FedProx", 200, mu=2.0)) == pytest.approx((s * B).sum() / s.sum())
    for option in (1, 2):
        task = quadratics("Scaffold", 300, option=option, server_lr=1.0)
        *_, end = controls.scaffold(task, ())
        assert end["w"].item() == pytest.approx(BEST) and abs(end["c"].item()) < 1e-9
        np.testing.assert_allclose(end["c_clients"][:, 0], A * (BEST - B), atol=1e-8)
    assert last(controls.feddyn, quadratics("FedDyn", 400, mu=0.5)) == pytest.approx(BEST)


def test_fednova_weighs_each_client_by_one_over_its_steps() -> None:
    task = quadratics("FedNova", 400, a=[1.0, 3.0, 2.0], b=[0.0, 1.0, 5.0], mu=0.0)
    copies = tuple(np.repeat(x, n, axis=0) for x, n in zip(task.x, (1, 2, 4), strict=True))
    targets = tuple(np.repeat(y, n) for y, n in zip(task.y, (1, 2, 4), strict=True))
    task = Task("FedNova", "quadratic", "", copies, targets, task.start, task.cohorts, 2, 1, RATE, 0.0, {"mu": 0.0})
    a, b, n, tau = np.array([1.0, 3.0, 2.0]), np.array([0.0, 1.0, 5.0]), np.array([1, 2, 4]), np.array([2, 4, 8])
    weights = n * (1 - (1 - RATE * a) ** tau) / tau
    assert task.steps == tau.tolist()
    assert last(averaging.fednova, task) == pytest.approx((weights * b).sum() / weights.sum())


def test_one_client_by_hand() -> None:
    """From w = 2, one client with a = 1, b = 0 moves to 2q in a round of FedAvg; Δ = 2q − 2."""
    q, one = 0.9**STEPS, {"a": [1.0], "b": [0.0]}
    change = 2 * q - 2
    found = [answer["w"].item() for answer in servers.fedavgm(quadratics("M", 2, **one, beta=0.5, server_lr=0.8), ())]
    second = found[0] * (q - 1)
    assert found == pytest.approx([2 + 0.8 * change, 2 + 0.8 * change + 0.8 * (0.5 * change + second)])
    rates = {"server_lr": 0.2, "beta1": 0.5, "beta2": 0.8, "tau": 0.1}
    root = (0.8 * 0.01 + 0.2 * change**2) ** 0.5
    assert last(servers.fedadam, quadratics("FedAdam", 1, **one, **rates)) == pytest.approx(
        2 + 0.2 * 0.5 * change / (root + 0.1)
    )
    root = (0.01 + 0.2 * change**2) ** 0.5  # Yogi: Δ² is larger than v
    assert last(servers.fedadam, quadratics("FedYogi", 1, **one, **rates)) == pytest.approx(
        2 + 0.2 * 0.5 * change / (root + 0.1)
    )
    d, value = -change / RATE, 2.0  # F(2) = 2
    h = 2 * value * d**2 + value**2 / RATE
    assert last(servers.qfedavg, quadratics("QFedAvg", 1, **one, q=2.0)) == pytest.approx(2 - value**2 * d / h)


def test_the_penalty_of_fedcurv_moves_the_local_optimum() -> None:
    """spec: x = (a b + 2λ Σ I θ) / (a + 2λ Σ I); here with many steps, client 0 after a round of both."""
    task = quadratics("FedCurv", 0, cohorts=((0, 1), (0,)), strength=0.2)
    task = Task(**{**vars(task), "epochs": 400})
    theta = 2 * 0.7**400 + B[1] * (1 - 0.7**400) + 0.01  # not the optimum itself, where the Fisher is 0
    first, second = penalties.fedcurv(task, ())
    fisher = (A[1] * (theta - 0.01 - B[1])) ** 2
    expected = 2 * 0.2 * fisher * B[1] / (A[0] + 2 * 0.2 * fisher)
    assert second["w"].item() == pytest.approx(expected, abs=1e-9) and first["w"].item() == pytest.approx(0.5)


def test_stratified_weights_are_unbiased() -> None:
    """For equal clients, the mean over all draws of one client from each stratum is full participation."""
    a, b, strata = [1.0, 2.0, 3.0, 1.5, 0.5], [0.0, 1.0, -1.0, 2.0, 3.0], (0, 0, 1, 1, 1)
    draws = list(itertools.product((0, 1), (2, 3, 4)))
    tasks = [quadratics("Stratified", 1, a, b, cohorts=(draw,), strata=strata) for draw in draws]
    mean = np.mean([last(averaging.stratified, task) for task in tasks])
    assert mean == pytest.approx(last(averaging.fedavg, quadratics("FedAvg", 1, a, b)))


def test_importance_of_a_linear_model() -> None:
    """spec: Ω_ij = mean |2 (Wx + b)_i x_j|, and 2 |(Wx + b)_i| for a bias."""
    [entry] = [entry for entry in ENTRIES if entry.algorithm == "MAS"]
    task = next(task for task in entry.tasks() if task.kind == "softmax")
    x, w = task.x[0], task.start
    output = x @ w[:6].reshape(3, 2).T + w[6:]
    expected = [np.abs(2 * output[:, i] * x[:, j]).mean() for i in range(3) for j in range(2)]
    expected += np.abs(2 * output).mean(0).tolist()
    np.testing.assert_allclose(entry.answer(task)[0]["importance"], expected)


def test_scaffold_keeps_c_the_mean_of_all_c_k_and_c_k_the_mean_gradient() -> None:
    for entry in ENTRIES:
        for task in entry.tasks() if entry.algorithm == "Scaffold" else ():
            for answer in entry.answer(task):
                np.testing.assert_allclose(answer["c"], answer["c_clients"].mean(0), atol=1e-12)
