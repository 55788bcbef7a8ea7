"""Power-of-choice: who is drawn, who of them trains, what it costs, and that the mean is
unweighted.
"""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_core.algorithms import PowerOfChoice
from tests.support import Trace, blobs, limit, quadratics, run, scalar_model

SIZES = (1, 2, 3, 4)
P = np.array(SIZES) / 10
ROUNDS = 1000


def simulation(candidates: int, cohort: int, b=(3.0, 1.0, 2.0, 4.0), **changes) -> fl.Simulation:
    """Quadratics of equal curvature, so that from 0 the loss grows with b²."""
    fed = quadratics([1.0] * len(b), b, changes.pop("sizes", SIZES))
    arguments = {
        "rounds": ROUNDS,
        "clients_per_round": cohort,
        "local_steps": 1,
        "batch_size": None,
        "lr": 0.1,
        "loss": "squared_error",
        "progress": False,
    }
    return fl.Simulation(fed, scalar_model(), PowerOfChoice(candidates), **(arguments | changes))


def cohorts(run: fl.Simulation, rounds: int = ROUNDS) -> list[tuple[int, ...]]:
    """The cohorts of the first rounds, all at w = 0."""
    server = run._server
    found = []
    for t in range(1, rounds + 1):
        server.round = t
        found += [tuple(cohort.tolist()) for cohort in run.algorithm.cohorts(server)]
    return found


def assert_law(found: list[tuple[int, ...]], law: dict[tuple[int, ...], float]) -> None:
    """Every frequency within five standard deviations of its probability."""
    assert sum(law.values()) == pytest.approx(1)
    counts = Counter(found)
    assert set(counts) <= {outcome for outcome, p in law.items() if p > 0}
    for outcome, p in law.items():
        assert abs(counts[outcome] / len(found) - p) <= 5 * (p * (1 - p) / len(found)) ** 0.5


def successive(count: int) -> dict[tuple[int, ...], float]:
    """The probability of every sequence that draws with
    probability ∝ n_k from those that are left.
    """
    law = {}
    for order in permutations(range(4), count):
        p = 1.0
        left = 1.0
        for k in order:
            p = p * P[k] / left
            left = left - P[k]
        law[order] = p
    return law


def test_as_many_candidates_as_clients_wanted_are_a_cohort_drawn_by_size() -> None:
    law: dict[tuple[int, ...], float] = {}
    for order, p in successive(2).items():
        law[tuple(sorted(order))] = law.get(tuple(sorted(order)), 0.0) + p
    assert_law(cohorts(simulation(2, 2)), law)


def test_the_one_with_the_larger_loss_of_two_candidates() -> None:
    worst = [2, 0, 1, 3]  # rank by b
    law = dict.fromkeys([(k,) for k in range(4)], 0.0)
    for pair, p in successive(2).items():
        law[(max(pair, key=worst.__getitem__),)] += p
    assert_law(cohorts(simulation(2, 1)), law)


def test_of_equal_losses_the_one_drawn_first_goes_first() -> None:
    assert_law(cohorts(simulation(4, 1, b=(2.0,) * 4)), {(k,): P[k] for k in range(4)})


def test_clients_chosen_count_alike() -> None:
    a = np.array([1.0, 3.0, 0.5])
    b = np.array([0.0, 1.0, -2.0])
    s = 1 - (1 - 0.1 * a) ** 10
    fed = quadratics(a, b, [5, 1, 2])
    assert limit(fed, PowerOfChoice(3), rounds=200) == pytest.approx(
        (s * b).sum() / s.sum(), abs=1e-10
    )


@pytest.mark.parametrize(("candidates", "asked"), [(2, 0), (3, 3), (5, 5)])
def test_ledger(candidates: int, asked: int) -> None:
    """d·P down and K·P up, and d losses where there is something to ask."""
    fed = blobs((3, 17, 8, 30, 12))
    arguments = {"local_steps": 2, "rounds": 3, "clients_per_round": 2}
    frame = run(
        fed, fl.models.softmax_regression(fed), PowerOfChoice(candidates), **arguments
    ).history.frame
    assert frame.bytes_down.tolist() == [candidates * 15 * 8 * t for t in (1, 2, 3)]
    assert frame.bytes_up.tolist() == [(2 * 15 + asked) * 8 * t for t in (1, 2, 3)]
    assert frame.server_updates.tolist() == [1, 2, 3]


@pytest.mark.parametrize("bad", [1, 5])
def test_as_few_candidates_as_the_cohort_and_as_many_as_there_are(bad) -> None:
    with pytest.raises(ValueError, match=rf"candidates={bad}: must be an integer from 2 to 4"):
        simulation(bad, 2)


def test_only_those_who_are_there_are_candidates() -> None:
    there = np.array(
        [
            [True, True, False, True],
            [False, True, False, False],
            [False] * 4,
            [True, False, True, True],
        ]
    )
    assert cohorts(simulation(3, 2, availability=Trace(there)), 4) == [(0, 3), (1,), (0, 3)]
