"""The formulas of the conformance suite against closed forms, written
out by hand, and against PyTorch's gradients.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from fedconform.entries import ENTRIES
from fedconform.formulas.averaging import BatchNorm, FedAvg, FedNova, FedProx, Stratified
from fedconform.formulas.feddyn import FedDyn
from fedconform.formulas.penalties import FedCurv, FedMas
from fedconform.formulas.scaffold import Scaffold
from fedconform.formulas.servers import FedAdagrad, FedAdam, FedAvgM, FedYogi, QFedAvg
from fedconform.tasks.making import BUFFERS, SETTINGS, make
from fedconform.tasks.task import Task

A = np.array([1.0, 3.0])
B = np.array([0.0, 1.0])
RATE = 0.1
STEPS = 10
Q = (1 - RATE * A) ** STEPS  # what is left of the distance to b after the local steps
BEST = 0.75  # of the mean of a/2 (w − b)²


def quadratics(
    name: str,
    rounds: int,
    a: Sequence[float] = A,
    b: Sequence[float] = B,
    cohorts: object = None,
    **parameters: object,
) -> Task:
    """Clients a/2 (w − b)² with one sample each, from w = 2, which all take part."""
    x = tuple(np.array([[value**0.5]]) for value in a)
    y = tuple(np.array([value**0.5 * target]) for value, target in zip(a, b, strict=True))
    everybody = (tuple(range(len(a))),) * rounds
    return Task(
        name,
        "quadratic",
        "",
        x,
        y,
        np.array([2.0]),
        cohorts or everybody,
        STEPS,
        None,
        RATE,
        0.0,
        parameters,
    )


def last(formula, task: Task) -> float:
    return list(formula(task).rounds())[-1]["w"].item()


@pytest.mark.parametrize("kind", ["quadratic", "linear", "softmax", "slope", "batchnorm"])
def test_losses_and_gradients_are_those_of_pytorch(kind: str) -> None:
    task = make("FedAvg", kind, SETTINGS[1], {})
    model = task.model()
    x, y = task.data(2)
    value = task.loss(model(x), y)
    expected = torch.cat(
        [one.flatten() for one in torch.autograd.grad(value, list(model.parameters()))]
    )
    samples = (task.x[2], task.y[2])
    np.testing.assert_allclose(task.gradient_at(task.start, *samples), expected, atol=1e-12)
    np.testing.assert_allclose(task.loss_at(task.start, *samples), value.item(), atol=1e-12)
    of_samples = FedAvg(task).sample_gradients(2, task.start)
    np.testing.assert_allclose(of_samples.mean(0), expected, atol=1e-12)
    assert np.ptp(of_samples, axis=0).max() > 0.01  # different samples


def test_fixed_points_on_two_quadratics() -> None:
    """spec: FedAvg Σ(1−q)b / Σ(1−q); FedProx with s = (1 −
    (1−η(a+μ))^K) a/(a+μ); SCAFFOLD and FedDyn the optimum.
    """
    assert last(FedAvg, quadratics("FedAvg", 200)) == pytest.approx(0.5987111211, abs=1e-9)
    s = (1 - (1 - RATE * (A + 2)) ** STEPS) * A / (A + 2)
    assert last(FedProx, quadratics("FedProx", 200, mu=2.0)) == pytest.approx(
        (s * B).sum() / s.sum()
    )
    for option in (1, 2):
        task = quadratics("Scaffold", 300, option=option, server_lr=1.0)
        *_, end = Scaffold(task).rounds()
        assert end["w"].item() == pytest.approx(BEST) and abs(end["c"].item()) < 1e-9
        np.testing.assert_allclose(end["c_clients"][:, 0], A * (BEST - B), atol=1e-8)
    assert last(FedDyn, quadratics("FedDyn", 400, mu=0.5)) == pytest.approx(BEST)


def test_fednova_weighs_each_client_by_one_over_its_steps() -> None:
    task = quadratics("FedNova", 400, a=[1.0, 3.0, 2.0], b=[0.0, 1.0, 5.0], mu=0.0)
    copies = tuple(np.repeat(x, n, axis=0) for x, n in zip(task.x, (1, 2, 4), strict=True))
    targets = tuple(np.repeat(y, n) for y, n in zip(task.y, (1, 2, 4), strict=True))
    task = Task(
        "FedNova",
        "quadratic",
        "",
        copies,
        targets,
        task.start,
        task.cohorts,
        2,
        1,
        RATE,
        0.0,
        {"mu": 0.0},
    )
    a = np.array([1.0, 3.0, 2.0])
    b = np.array([0.0, 1.0, 5.0])
    n = np.array([1, 2, 4])
    tau = np.array([2, 4, 8])
    weights = n * (1 - (1 - RATE * a) ** tau) / tau
    assert task.steps == tau.tolist()
    assert last(FedNova, task) == pytest.approx((weights * b).sum() / weights.sum())


def test_one_client_by_hand() -> None:
    """From w = 2, one client with a = 1, b = 0 moves to 2q in a round of FedAvg; Δ = 2q − 2."""
    q = 0.9**STEPS
    one = {"a": [1.0], "b": [0.0]}
    change = 2 * q - 2
    found = [
        answer["w"].item()
        for answer in FedAvgM(quadratics("M", 2, **one, beta=0.5, server_lr=0.8)).rounds()
    ]
    second = found[0] * (q - 1)
    assert found == pytest.approx(
        [2 + 0.8 * change, 2 + 0.8 * change + 0.8 * (0.5 * change + second)]
    )
    rates = {"server_lr": 0.2, "beta1": 0.5, "beta2": 0.8, "tau": 0.1}
    root = (0.8 * 0.01 + 0.2 * change**2) ** 0.5
    assert last(FedAdam, quadratics("FedAdam", 1, **one, **rates)) == pytest.approx(
        2 + 0.2 * 0.5 * change / (root + 0.1)
    )
    root = (0.01 + 0.2 * change**2) ** 0.5  # Yogi: Δ² is larger than v
    assert last(FedYogi, quadratics("FedYogi", 1, **one, **rates)) == pytest.approx(
        2 + 0.2 * 0.5 * change / (root + 0.1)
    )
    # F(2) = 2
    d = -change / RATE
    value = 2.0
    h = 2 * value * d**2 + value**2 / RATE
    assert last(QFedAvg, quadratics("QFedAvg", 1, **one, q=2.0)) == pytest.approx(
        2 - value**2 * d / h
    )


def test_the_penalty_of_fedcurv_moves_the_local_optimum() -> None:
    """spec: x = (a b + 2λ Σ I θ) / (a + 2λ Σ I); here with many
    steps, client 0 after a round of both.
    """
    task = quadratics("FedCurv", 0, cohorts=((0, 1), (0,)), strength=0.2)
    task = Task(**{**vars(task), "epochs": 400})
    # not the optimum itself, where the Fisher is 0
    theta = 2 * 0.7**400 + B[1] * (1 - 0.7**400) + 0.01
    first, second = FedCurv(task).rounds()
    fisher = (A[1] * (theta - 0.01 - B[1])) ** 2
    expected = 2 * 0.2 * fisher * B[1] / (A[0] + 2 * 0.2 * fisher)
    assert second["w"].item() == pytest.approx(expected, abs=1e-9) and first[
        "w"
    ].item() == pytest.approx(0.5)


@pytest.mark.parametrize("step", ["explicit", "implicit"])
def test_the_penalty_of_fedmas_holds_the_second_tier_back(step: str) -> None:
    """Client 0 goes to b = 0 + δ, where Ω = 2 a w; with many steps client 1 then rests where its
    loss and the penalty balance: (a b + 2λΩ w) / (a + 2λΩ). One step is written out.
    """
    parameters = {"strength": 0.2, "penalty_step": step, "num_tiers": 2, "measured_by": (0, 1)}
    task = quadratics("FedMas", 0, b=(0.5, 1.0), cohorts=((0,), (1,)), **parameters)
    w = 0.5 + 1.5 * 0.9**STEPS
    first, second = FedMas(task).rounds()
    assert first["w"].item() == pytest.approx(w, abs=1e-12)
    pull = 2 * 0.2 * 2 * A[0] * w
    rest = (A[1] * B[1] + pull * w) / (A[1] + pull)
    rate = 1 - RATE * (A[1] + pull)
    if step == "implicit":
        rate = (1 - RATE * A[1]) / (1 + RATE * pull)
    assert second["w"].item() == pytest.approx(rest + (w - rest) * rate**STEPS, abs=1e-12)


def test_a_strong_penalty_freezes_the_second_tier_of_fedmas_in_the_implicit_step() -> None:
    parameters = {"strength": 1e9, "penalty_step": "implicit", "num_tiers": 2}
    cohorts = ((0,), (1,))
    task = quadratics("FedMas", 0, cohorts=cohorts, **parameters, measured_by=(0, 1))
    first, second = FedMas(task).rounds()
    assert second["w"].item() == pytest.approx(first["w"].item(), abs=1e-6)


def test_the_implicit_step_of_fedcurv_by_hand() -> None:
    """Client 0 after a round of both: a = 2λ I_1 and r = θ_1, for ten steps."""
    task = quadratics("FedCurv", 0, cohorts=((0, 1), (0,)), strength=0.2, penalty_step="implicit")
    theta = 1 + 0.7**STEPS
    first, second = FedCurv(task).rounds()
    w = (2 * 0.9**STEPS + theta) / 2
    assert first["w"].item() == pytest.approx(w, abs=1e-12)
    pull = 2 * 0.2 * (A[1] * (theta - B[1])) ** 2
    for _ in range(STEPS):
        w = (w - RATE * A[0] * (w - B[0]) + RATE * pull * theta) / (1 + RATE * pull)
    assert second["w"].item() == pytest.approx(w, abs=1e-12)


def test_stratified_weights_are_unbiased() -> None:
    """For equal clients, the mean over all draws of one client
    from each stratum is full participation.
    """
    a = [1.0, 2.0, 3.0, 1.5, 0.5]
    b = [0.0, 1.0, -1.0, 2.0, 3.0]
    strata = (0, 0, 1, 1, 1)
    draws = list(itertools.product((0, 1), (2, 3, 4)))
    tasks = [quadratics("Stratified", 1, a, b, cohorts=(draw,), strata=strata) for draw in draws]
    mean = np.mean([last(Stratified, task) for task in tasks])
    assert mean == pytest.approx(last(FedAvg, quadratics("FedAvg", 1, a, b)))


def test_importance_of_a_linear_model() -> None:
    """spec: Ω_ij = mean |2 (Wx + b)_i x_j|, and 2 |(Wx + b)_i| for a bias."""
    [entry] = [entry for entry in ENTRIES if str(entry) == "MAS()"]
    task = next(task for _, task in entry.tasks() if task.kind == "softmax")
    x = task.x[0]
    w = task.start
    output = x @ w[:6].reshape(3, 2).T + w[6:]
    expected = [np.abs(2 * output[:, i] * x[:, j]).mean() for i in range(3) for j in range(2)]
    expected += np.abs(2 * output).mean(0).tolist()
    np.testing.assert_allclose(entry.answer(task)[0]["importance"], expected)


def test_importance_of_the_softmax_is_that_of_pytorch() -> None:
    [entry] = [entry for entry in ENTRIES if str(entry) == "MAS(output=softmax)"]
    for _, task in entry.tasks():
        model = task.model()
        rows = []
        for sample in task.data(0)[0]:
            norm = torch.softmax(model(sample), dim=0).square().sum()
            gradients = torch.autograd.grad(norm, list(model.parameters()))
            rows.append(torch.cat([one.flatten() for one in gradients]).abs())
        expected = torch.stack(rows).mean(0)
        np.testing.assert_allclose(entry.answer(task)[0]["importance"], expected, atol=1e-12)


def test_scaffold_keeps_c_the_mean_of_all_c_k_and_c_k_the_mean_gradient() -> None:
    for entry in ENTRIES:
        for _, task in entry.tasks() if entry.algorithm == "Scaffold" else ():
            for answer in entry.answer(task):
                np.testing.assert_allclose(answer["c"], answer["c_clients"].mean(0), atol=1e-12)


def test_adagrad_of_one_client_by_hand() -> None:
    """Two rounds from w = 2 with a = 1, b = 0: v ← v + Δ², m ← β₁ m + (1 − β₁) Δ."""
    rates = {"server_lr": 0.2, "beta1": 0.5, "tau": 0.1}
    task = quadratics("FedAdagrad", 2, a=[1.0], b=[0.0], **rates)
    w = 2.0
    m = 0.0
    v = 0.01
    for answer in FedAdagrad(task).rounds():
        change = w * (0.9**STEPS - 1)
        m = 0.5 * m + 0.5 * change
        v += change**2
        w += 0.2 * m / (v**0.5 + 0.1)
        assert answer["w"].item() == pytest.approx(w, abs=1e-12)


def test_the_buffers_of_batch_normalisation_are_those_of_pytorch() -> None:
    task = make("FedAvg", "batchnorm", BUFFERS, {})
    first = next(BatchNorm(task).rounds())
    rows = []
    for k in task.cohorts[0]:
        model = task.model()
        x, y = task.data(k)
        optimizer = torch.optim.SGD(model.parameters(), lr=task.lr)
        for _ in range(task.epochs):
            for part in torch.arange(len(x)).split(task.batch_size):
                optimizer.zero_grad()
                task.loss(model(x[part]), y[part]).backward()
                optimizer.step()
        parameters = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        rows.append(torch.cat([parameters, model[0].running_mean, model[0].running_var]).numpy())
    sizes = [task.sizes[k] for k in task.cohorts[0]]
    expected = np.average(rows, axis=0, weights=sizes)
    np.testing.assert_allclose(np.append(first["w"], first["buffers"]), expected, atol=1e-9)
