"""Where the algorithms end on quadratics f_i(x) = a_i/2 (x − b_i)²: closed forms."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.support import limit, quadratics, run, scalar_model

A, B = np.array([1.0, 3.0]), np.array([0.0, 1.0])
OPTIMUM = (A * B).sum() / A.sum()


def test_fedavg_stops_at_the_published_biased_point() -> None:
    assert limit(quadratics(A, B), fl.FedAvg()) == pytest.approx(0.5987111211, abs=1e-10)
    assert OPTIMUM == 0.75


@pytest.mark.parametrize("steps", [1, 2, 10, 50])
@pytest.mark.parametrize(("a", "b", "sizes"), [((1, 3), (0, 1), (1, 1)), ((0.5, 2, 4), (-1, 3, 0.3), (5, 1, 2))])
def test_fedavg_fixed_point_and_contraction(a, b, sizes, steps: int) -> None:
    a, b, p = np.array(a, float), np.array(b, float), np.array(sizes) / sum(sizes)
    q = (1 - 0.1 * a) ** steps
    fixed = (p * (1 - q) * b).sum() / (p * (1 - q)).sum()
    assert limit(quadratics(a, b, sizes), fl.FedAvg(), local_steps=steps, rounds=60 + 300 // steps) == pytest.approx(
        fixed, abs=1e-10
    )
    after_one = limit(quadratics(a, b, sizes), fl.FedAvg(), local_steps=steps, rounds=1, start=7.0)
    assert after_one - fixed == pytest.approx((p * q).sum() * (7.0 - fixed), rel=1e-10)


def test_fedavg_is_unbiased_with_one_step_or_equal_curvature_and_tends_to_the_mean_of_the_optima() -> None:
    assert limit(quadratics(A, B), fl.FedAvg(), local_steps=1, rounds=200) == pytest.approx(OPTIMUM, abs=1e-10)
    assert limit(quadratics((2, 2), B), fl.FedAvg(), local_steps=25) == pytest.approx(0.5, abs=1e-10)
    assert limit(quadratics(A, B), fl.FedAvg(), local_steps=300, rounds=4) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("option", [1, 2])
@pytest.mark.parametrize("control_update", ["all", "cohort"])
def test_scaffold_reaches_the_optimum_and_its_controls_the_local_gradients(option: int, control_update: str) -> None:
    algorithm = fl.Scaffold(option=option, control_update=control_update)
    simulation = run(quadratics(A, B), scalar_model(), algorithm, rounds=150)
    assert float(simulation.history.params[0]) == pytest.approx(OPTIMUM, abs=1e-9)
    state = simulation.state_dict()["algorithm"]
    assert state["c_clients"][:, 0].numpy() == pytest.approx(A * (OPTIMUM - B), abs=1e-8)
    assert state["c"].item() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("mu", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("steps", [1, 10])
def test_fedprox_fixed_point_with_finitely_many_steps(mu: float, steps: int) -> None:
    s = (1 - (1 - 0.1 * (A + mu)) ** steps) * A / (A + mu)
    fixed = (s * B).sum() / s.sum()
    assert limit(quadratics(A, B), fl.FedProx(mu), local_steps=steps, rounds=500) == pytest.approx(fixed, abs=1e-9)


def test_fedprox_with_an_exact_proximal_step() -> None:
    mu = 2.0
    s = A / (A + mu)
    assert limit(quadratics(A, B), fl.FedProx(mu), local_steps=100, rounds=60) == pytest.approx(
        (s * B).sum() / s.sum(), abs=1e-9
    )
    strong = limit(quadratics(A, B), fl.FedProx(200.0), local_steps=5, lr=1 / 202, rounds=1000)
    assert strong == pytest.approx(OPTIMUM, abs=2e-3)


def test_fedprox_single_client_closed_form() -> None:
    """An anchor that moves with the parameters would give plain gradient descent instead."""
    mu, lr, steps, start = 1.5, 0.1, 7, 4.0
    s = (1 - (1 - lr * (3 + mu)) ** steps) * 3 / (3 + mu)
    after = limit(quadratics([3.0], [1.0]), fl.FedProx(mu), rounds=1, local_steps=steps, start=start)
    assert after == pytest.approx(start + s * (1.0 - start), abs=1e-12)


def test_fedprox_is_stable_up_to_its_bound() -> None:
    assert abs(limit(quadratics([1.0], [0.0]), fl.FedProx(17.0), local_steps=20, rounds=60, start=1.0)) < 0.1
    far = limit(quadratics([1.0], [0.0]), fl.FedProx(20.0), local_steps=20, rounds=60, start=1.0)
    assert abs(far) > 1.0


@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_fednova_and_fedavg_with_unequal_steps(mu: float) -> None:
    """Batch size 1 and one epoch: client i takes n_i steps. FedNova removes the factor τ_i that biases FedAvg."""
    sizes, lr = np.array([1, 4, 9]), 0.05
    a, b, p = np.array([1.0, 3.0, 2.0]), np.array([0.0, 1.0, -2.0]), sizes / sizes.sum()
    moved = (1 - (1 - lr * (a + mu)) ** sizes) * a / (a + mu)
    norm = sizes if mu == 0 else (1 - (1 - lr * mu) ** sizes) / (lr * mu)
    arguments = {"local_epochs": 1, "batch_size": 1, "lr": lr, "rounds": 250}
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
    simulation = run(
        quadratics(a, b, sizes),
        scalar_model(start),
        fl.FedNova(),
        rounds=1,
        clients_per_round=2,
        local_epochs=1,
        batch_size=1,
        lr=lr,
    )
    ends = start + (1 - (1 - lr * a) ** sizes) * (b - start)
    possible = []
    for i in range(5):
        for j in range(i):
            pair = [i, j]
            p = sizes[pair] / sizes[pair].sum()
            possible.append(start - (p @ sizes[pair]) * (p / sizes[pair]) @ (start - ends[pair]))
    assert min(abs(float(simulation.history.params[0]) - value) for value in possible) < 1e-12


E = np.array([0.0, 1.0, 2.0, 7.0])


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_example_1_of_fedsso_equal_curvature_is_unbiased_at_any_e(steps: int) -> None:
    """f_i = (x − e_i)²: the limit is the mean of the e_i, and F* exceeds the mean of the clients' own optima by Γ."""
    simulation = run(quadratics([2.0] * 4, E), scalar_model(), fl.FedAvg(), rounds=20 + 120 // steps, local_steps=steps)
    assert float(simulation.history.params[0]) == pytest.approx(2.5, abs=1e-9)
    assert simulation.history.frame.train_loss.iloc[-1] == pytest.approx(7.25, abs=1e-9)


@pytest.mark.parametrize("shift", [(0.15, -0.05, 0.0, -0.1), (0.2, 0.1, 0.0, 0.0)])
def test_example_1_of_fedsso_shifted_weights_move_the_limit(shift) -> None:
    """Weights 1/4 + τ_i move it by Σ τ_i e_i if they still sum to 1; otherwise they are normalised."""
    weights = 0.25 + np.array(shift)
    sizes = np.round(weights * 100).astype(int)
    expected = 2.5 + np.array(shift) @ E if abs(sum(shift)) < 1e-12 else weights @ E / weights.sum()
    found = limit(quadratics([2.0] * 4, E, sizes), fl.FedAvg(), rounds=60, local_steps=3)
    assert found == pytest.approx(expected, abs=1e-9)


def test_control_update_of_the_seed_is_scaled_by_n_over_s() -> None:
    fed = quadratics(np.linspace(0.5, 2, 10), np.linspace(-1, 1, 10))
    for control_update, factor in (("all", 1.0), ("cohort", 10 / 3)):
        simulation = fl.Simulation(
            fed,
            scalar_model(),
            fl.Scaffold(control_update=control_update),
            rounds=12,
            clients_per_round=3,
            local_steps=4,
            batch_size=None,
            lr=0.05,
            loss="squared_error",
            progress=False,
        )
        for _ in simulation:
            state = simulation.state_dict()["algorithm"]
            torch.testing.assert_close(state["c"], factor * state["c_clients"].mean(0), rtol=0, atol=1e-12)
        assert state["c"].abs().item() > 1e-3
