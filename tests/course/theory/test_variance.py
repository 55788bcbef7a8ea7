"""Closed forms of the variance against enumeration, Monte Carlo and the figures of [004]."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

from fedlab_core.sampling import Systematic, Uniform
from fedlab_course.theory import simple_variance, systematic_variance


def spread(estimates, centre: np.ndarray) -> float:
    """Mean squared distance of the estimates from ``centre``."""
    return float(np.square(np.array(estimates) - centre).sum(-1).mean())


def stratified_variance(models: np.ndarray, labels: np.ndarray, counts) -> float:
    """Cochran 1977, chapter 5: Σ_c (n_c/N)²·(1 − s_c/n_c)·S_c²/s_c; what is drawn for certain adds
    nothing.
    """
    total = 0.0
    for c, count in enumerate(counts):
        members = models[labels == c]
        spread_within = members.var(axis=0, ddof=1).sum() if len(members) > 1 else 0.0
        total += (
            (len(members) / len(models)) ** 2 * (1 - count / len(members)) * spread_within / count
        )
    return float(total)


def test_simple_variance_is_that_over_all_cohorts():
    models = np.random.default_rng(0).normal(size=(7, 3))
    for size in range(1, 8):
        means = [models[list(cohort)].mean(0) for cohort in combinations(range(7), size)]
        assert simple_variance(models, size) == pytest.approx(
            spread(means, models.mean(0)), abs=1e-15
        )


@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 1, 1], [0, 0, 1, 1, -1], [0, 0, 0, -1, -1], [-1] * 5, [2, 2, 2, 2, 2]]
)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_systematic_variance_is_that_over_all_orders_and_starts(labels, size):
    """Rows: strata in turn, every order within each; points every n/K places from every start, as
    real numbers.
    """
    models = np.random.default_rng(2).normal(size=(5, 3))
    labels = np.array(labels)
    strata = [np.flatnonzero(labels == c) for c in (0, 1, 2, -1)]
    means = []
    for orders in product(*(permutations(stratum) for stratum in strata)):
        row = [client for order in orders for client in order]
        for start in range(5):
            points = (start + 0.5) / size + np.arange(size) * 5 / size
            means.append(models[[row[int(point)] for point in points]].mean(0))
    assert systematic_variance(models, labels, size) == pytest.approx(
        spread(means, models.mean(0)), abs=1e-15
    )


def test_systematic_is_stratified_where_shares_are_whole_and_simple_without_clusters():
    models = np.random.default_rng(3).normal(size=(30, 4))
    labels = np.repeat([0, 1, 2], [15, 10, 5])
    assert systematic_variance(models, labels, 6) == pytest.approx(
        stratified_variance(models, labels, [3, 2, 1])
    )
    assert systematic_variance(models, np.zeros(30, dtype=int), 6) == pytest.approx(
        simple_variance(models, 6)
    )


@pytest.mark.parametrize(
    "sizes", [(10,) * 10, (3, 17, 1, 9, 30, 25, 15)], ids=["whole shares", "broken shares"]
)
def test_monte_carlo_at_a_hundred_clients(sizes):
    """N = 100, K = 10: squared errors of 1,000 cohorts average to the closed forms within 4.5
    standard errors.
    """
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    models = rng.normal(size=(len(sizes), 3))[labels] + 0.3 * rng.normal(size=(100, 3))
    designs = {
        simple_variance(models, 10): Uniform(np.ones(100, dtype=bool), 10),
        systematic_variance(models, labels, 10): Systematic(labels, 10),
    }
    for expected, design in designs.items():
        errors = [
            np.square(models[design.draw(rng)].mean(0) - models.mean(0)).sum() for _ in range(1000)
        ]
        assert abs(np.mean(errors) - expected) < 4.5 * np.std(errors) / np.sqrt(1000)
    assert systematic_variance(models, labels, 10) < 0.5 * simple_variance(models, 10)


def test_a_cohort_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="clients_per_round=5"):
        simple_variance(np.eye(4), 5)
