"""Chapter 3: SCAFFOLD as its exercise writes it, and the goal of its explorer."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course import Explorer, goals
from fedlab_course.check import registry
from tests.support import blobs, limit, quadratics, run

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -2.0])


@pytest.fixture(scope="module")
def controlled():
    exercise = registry.get("03-class")
    return exercise.build(exercise.solution_source)


def test_the_readers_class_is_the_librarys_on_ragged_clients(controlled) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "rounds": 5}
    runs = [run(fed, model, one, **work) for one in (controlled(), fl.Scaffold())]
    ours, theirs = (simulation.history.params for simulation in runs)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "work", [{"local_steps": 7}, {"local_steps": 7, "clients_per_round": 1, "rounds": 400}]
)
def test_it_rests_at_the_optimum_of_the_plain_mean(controlled, work) -> None:
    """Full participation, and the same where one client of three takes part."""
    arguments = {"rounds": 200, "lr": 0.05} | work
    assert limit(quadratics(A, B), controlled(), **arguments) == pytest.approx(
        (A * B).sum() / A.sum(), abs=1e-6
    )


@pytest.mark.parametrize(("mu", "bias"), [(1, 0.1245), (4, 0.0680), (12, 0.0280), (16, 0.1073)])
def test_the_bias_of_fedprox_returns_where_local_steps_overshoot(mu: float, bias: float) -> None:
    """Σ s_k b_k / Σ s_k, with s_k = a_k / (a_k + μ) · (1 − (1 − η (a_k + μ))^τ), beside the numbers
    in the text.
    """
    a = np.array([1.0, 3.0])
    b = np.array([0.0, 1.0])
    way = a / (a + mu) * (1 - (1 - 0.1 * (a + mu)) ** 10)
    rest = float((way * b).sum() / way.sum())
    assert 0.75 - rest == pytest.approx(bias, abs=1e-4)
    found = limit(quadratics(a, b), fl.FedProx(mu=mu), rounds=300, local_steps=10, lr=0.1)
    assert found == pytest.approx(rest, abs=1e-6)


@pytest.mark.slow
def test_the_goal_of_the_explorer_is_reached_with_five_labels_and_not_at_its_start() -> None:
    goal = goals.beats("FedAvg", "SCAFFOLD", x="bytes")
    explorer = Explorer(
        algorithms=("fedavg", "scaffold"), split="labels_per_client", labels=2, x="bytes", goal=goal
    )
    explorer.run()
    assert explorer.reached is False
    explorer.run(labels=5)
    assert explorer.reached is True
