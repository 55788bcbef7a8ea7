"""Resting points of unequal work: closed forms against the library's own rounds, and the limits of
small rates.
"""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.methods.two_speeds import Slowed

A = np.array([1.0, 3.0])
B = np.array([0.0, 1.0])


def counted(steps, lr: float, mu: float) -> np.ndarray:
    """What FedNova divides a move by: each step leaves 1 − ημ of the gradients before it."""
    return np.array([sum((1 - lr * mu) ** i for i in range(count)) for count in steps])


def test_numbers_worked_out_by_hand() -> None:
    # Equal curvature 2, η = 0.1: s = 1 − 0.8¹⁰ and 1 − 0.8².
    assert theory.covered([2, 2], [10, 2], 0.1) == pytest.approx([1 - 0.8**10, 0.36])
    assert theory.resting_point([2, 2], [0, 1], [10, 2], 0.1) == pytest.approx(
        0.36 / (1.36 - 0.8**10)
    )
    assert theory.resting_point([2, 2], [0, 1], [10, 2], 0.1, divisors=[10, 2]) == pytest.approx(
        0.18 / (0.18 + (1 - 0.8**10) / 10)
    )
    assert theory.resting_point(A, B, 10, 0.1) == pytest.approx(0.5987111211, abs=1e-10)


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_a_small_rate_leaves_fedavg_at_another_optimum_and_fednova_at_the_right_one(
    mu: float,
) -> None:
    taken = np.array([10, 2])
    rho = np.array([0.75, 0.25])
    other = (rho * taken * A * B).sum() / (rho * taken * A).sum()
    right = (rho * A * B).sum() / (rho * A).sum()
    assert theory.resting_point(A, B, taken, 1e-7, mu, weights=rho) == pytest.approx(
        other, abs=1e-5
    )
    assert theory.resting_point(
        A, B, taken, 1e-7, mu, weights=rho, divisors=counted(taken, 1e-7, mu)
    ) == pytest.approx(right, abs=1e-5)


@pytest.mark.parametrize(
    ("rule", "mu", "normalised"),
    [
        (fl.FedAvg(), 0.0, False),
        (fl.FedProx(1.0), 1.0, False),
        (fl.FedNova(), 0.0, True),
        (fl.FedNova(mu=1.0), 1.0, True),
    ],
)
def test_the_library_comes_to_rest_there(rule: fl.Algorithm, mu: float, normalised: bool) -> None:
    fed = fl.synthetic.quadratics(A, B)
    work = {
        "rounds": 150,
        "clients_per_round": 2,
        "local_steps": 10,
        "batch_size": None,
        "lr": 0.1,
        "loss": "squared_error",
        "progress": False,
        "eval_every": 150,
    }
    history = fl.simulate(fed, fl.models.linear(fed, bias=False), Slowed(rule, 1), **work)
    divisors = counted([1, 10], 0.1, mu) if normalised else 1.0
    found = theory.resting_point(A, B, [1, 10], 0.1, mu, divisors=divisors)
    assert float(history.params[0]) == pytest.approx(found, abs=1e-9)


def test_steps_that_diverge_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lr=0\.1: local steps diverge with mu=17"):
        theory.covered(A, 10, 0.1, 17.0)
