"""Where the algorithms end on quadratics f_i(x) = a_i/2 (x − b_i)²: closed forms."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.support import limit, quadratics, run, scalar_model, simulation

A, B = np.array([1.0, 3.0]), np.array([0.0, 1.0])
OPTIMUM = (A * B).sum() / A.sum()


def test_fedavg_stops_at_the_published_biased_point() -> None:
    assert limit(quadratics(A, B), fl.FedAvg()) == pytest.approx(0.5987111211, abs=1e-10)
    assert OPTIMUM == 0.75


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize(("a", "b", "sizes"), [((0.5, 2, 4), (-1, 3, 0.3), (5, 1, 2))])
def test_fedavg_fixed_point_and_contraction(a, b, sizes, steps: int) -> None:
    a, b, p = np.array(a, float), np.array(b, float), np.array(sizes) / sum(sizes)
    q = (1 - 0.1 * a) ** steps
    fixed = (p * (1 - q) * b).sum() / (p * (1 - q)).sum()
    assert limit(quadratics(a, b, sizes), fl.FedAvg(), local_steps=steps, rounds=60 + 300 // steps) == pytest.approx(
        fixed, abs=1e-10
    )
    after_one = limit(quadratics(a, b, sizes), fl.FedAvg(), local_steps=steps, rounds=1, start=7.0)
    assert after_one - fixed == pytest.approx((p * q).sum() * (7.0 - fixed), rel=1e-10)


@pytest.mark.parametrize(("option", "control_update"), [(1, "all"), (2, "cohort")])
def test_scaffold_reaches_the_optimum_and_its_controls_the_local_gradients(option: int, control_update: str) -> None:
    algorithm = fl.Scaffold(option=option, control_update=control_update)
    sim = run(quadratics(A, B), scalar_model(), algorithm, rounds=150)
    assert float(sim.history.params[0]) == pytest.approx(OPTIMUM, abs=1e-9)
    state = sim.state_dict()["algorithm"]
    assert state["c_clients"][:, 0].numpy() == pytest.approx(A * (OPTIMUM - B), abs=1e-8)
    assert state["c"].item() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("mu", "steps"), [(0.5, 1), (5.0, 10)])
def test_fedprox_fixed_point_with_finitely_many_steps(mu: float, steps: int) -> None:
    s = (1 - (1 - 0.1 * (A + mu)) ** steps) * A / (A + mu)
    fixed = (s * B).sum() / s.sum()
    assert limit(quadratics(A, B), fl.FedProx(mu), local_steps=steps, rounds=200) == pytest.approx(fixed, abs=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_fednova_and_fedavg_with_unequal_steps(mu: float) -> None:
    """Batch size 1 and one epoch: client i takes n_i steps. FedNova removes the factor τ_i that biases FedAvg."""
    sizes, lr = np.array([1, 4, 9]), 0.05
    a, b, p = np.array([1.0, 3.0, 2.0]), np.array([0.0, 1.0, -2.0]), sizes / sizes.sum()
    moved = (1 - (1 - lr * (a + mu)) ** sizes) * a / (a + mu)
    norm = sizes if mu == 0 else (1 - (1 - lr * mu) ** sizes) / (lr * mu)
    arguments = {"local_epochs": 1, "batch_size": 1, "lr": lr, "rounds": 120}
    weights = p * moved / norm
    assert limit(quadratics(a, b, sizes), fl.FedNova(mu), **arguments) == pytest.approx(
        (weights * b).sum() / weights.sum(), abs=1e-9
    )
    weights = p * moved
    plain = fl.FedAvg() if mu == 0 else fl.FedProx(mu)
    assert limit(quadratics(a, b, sizes), plain, **arguments) == pytest.approx(
        (weights * b).sum() / weights.sum(), abs=1e-9
    )


def test_fednova_step_with_a_sampled_cohort() -> None:
    """One round from a known point: weights are renormalised over the cohort, with no factor N/K."""
    sizes, lr, start = np.array([1, 2, 3, 5, 8]), 0.05, 3.0
    a, b = np.array([1.0, 3.0, 2.0, 0.5, 1.5]), np.array([0.0, 1.0, -2.0, 4.0, 2.0])
    work = {"rounds": 1, "clients_per_round": 2, "local_epochs": 1, "batch_size": 1, "lr": lr}
    sim = run(quadratics(a, b, sizes), scalar_model(start), fl.FedNova(), **work)
    ends = start + (1 - (1 - lr * a) ** sizes) * (b - start)
    possible = []
    for i in range(5):
        for j in range(i):
            pair = [i, j]
            p = sizes[pair] / sizes[pair].sum()
            possible.append(start - (p @ sizes[pair]) * (p / sizes[pair]) @ (start - ends[pair]))
    assert min(abs(float(sim.history.params[0]) - value) for value in possible) < 1e-12


def test_control_update_of_the_seed_is_scaled_by_n_over_s() -> None:
    fed = quadratics(np.linspace(0.5, 2, 10), np.linspace(-1, 1, 10))
    for control_update, factor in (("all", 1.0), ("cohort", 10 / 3)):
        work = {"rounds": 12, "clients_per_round": 3, "local_steps": 4, "lr": 0.05}
        sim = simulation(fed, scalar_model(), fl.Scaffold(control_update=control_update), **work)
        for _ in sim:
            state = sim.state_dict()["algorithm"]
            torch.testing.assert_close(state["c"], factor * state["c_clients"].mean(0), rtol=0, atol=1e-12)
        assert state["c"].abs().item() > 1e-3
