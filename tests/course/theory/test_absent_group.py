"""Inclusion probabilities and resting points of clients that are often away, against enumeration
and closed forms.
"""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedlab_core.sampling import Bernoulli, Systematic, Uniform, weights
from fedlab_course.theory import AbsentGroup, inclusion

MEANS = (0.0, 1.0, 4.0)
SIZE = 2
COHORT = 3
E = np.repeat(MEANS, SIZE)


def enumerated_inclusion(probabilities: np.ndarray, size: int) -> np.ndarray:
    """π by listing all 2^N sets of available clients."""
    total = np.zeros(len(probabilities))
    for present in product([False, True], repeat=len(probabilities)):
        mask = np.array(present)
        chance = np.where(mask, probabilities, 1 - probabilities).prod()
        total += chance * mask * min(1, size / max(1, mask.sum()))
    return total


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(1, 9))
def test_inclusion_is_that_of_all_subsets(probabilities, size):
    p = np.array(probabilities)
    assert np.allclose(inclusion(p, size), enumerated_inclusion(p, size), rtol=0, atol=1e-13)


def test_equal_chances_have_the_binomial_closed_form():
    """N equal clients share E min(K, B) places, B ~ Binomial(N, p)."""
    b = np.arange(101)
    expected = (np.minimum(10, b) * stats.binom.pmf(b, 100, 0.07)).sum() / 100
    assert np.allclose(inclusion(np.full(100, 0.07), 10), expected, rtol=1e-12)


@pytest.mark.parametrize("stratified", [False, True])
def test_weights_from_inclusion_undo_absence(stratified):
    """E Σ_S (ρ_k/π_k) y_k = Σ ρ_k y_k over both draws, while equal weights lean to those who are
    often there.
    """
    rng = np.random.default_rng(3)
    p = np.linspace(0.1, 1, 12)
    shares = rng.dirichlet(np.full(12, 5.0))
    values = np.arange(12.0)
    labels = np.arange(12) // 4
    law = Bernoulli(p)
    pi = inclusion(p, 4)
    estimates = []
    naive = []
    seen = np.zeros(12)
    for round in range(1, 2001):
        mask = law.available(round, rng)
        cohort = (Systematic(labels, 4, mask) if stratified else Uniform(mask, 4)).draw(rng)
        seen[cohort] += 1
        estimates.append(
            (weights(shares[cohort], pi[cohort], literal=True) @ values[cohort])
            if len(cohort)
            else 0.0
        )
        naive.append(values[cohort].mean() if len(cohort) else values.mean())
    assert (np.abs(seen / 2000 - pi) < 4.5 * np.sqrt(pi * (1 - pi) / 2000)).all()
    assert abs(np.mean(estimates) - shares @ values) < 4.5 * np.std(estimates) / np.sqrt(2000)
    assert np.mean(naive) - values.mean() > 10 * np.std(naive) / np.sqrt(2000)


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="clients_per_round=0"):
        inclusion(np.array([0.5]), 0)
    with pytest.raises(ValueError, match="probabilities: must be"):
        inclusion(np.array([0.5, 1.5]), 1)


def every_cohort(presence: float) -> list[tuple[float, list[int]]]:
    """Each cohort with its probability."""
    found = []
    for there in product([False, True], repeat=SIZE):
        chance = np.prod([presence if one else 1 - presence for one in there])
        present = [0, 1, 2, 3, *(4 + i for i, one in enumerate(there) if one)]
        found += [
            (chance / comb(len(present), COHORT), list(S)) for S in combinations(present, COHORT)
        ]
    return found


@pytest.mark.parametrize("presence", [0.05, 0.5, 1.0])
def test_resting_points_are_those_of_all_cohorts(presence: float) -> None:
    """x rests where Σ over cohorts of P(S) Σ_S ω_k (e_k − x) is zero."""
    group = AbsentGroup(SIZE, MEANS, COHORT)
    pi = inclusion(np.array([1.0, 1, 1, 1, presence, presence]), COHORT)
    cohorts = every_cohort(presence)
    assert sum(chance for chance, _ in cohorts) == pytest.approx(1)
    plain = sum(chance * E[S].mean() for chance, S in cohorts)
    unscaled = [
        sum(chance * (v[S] / pi[S]).sum() for chance, S in cohorts) for v in (E, np.ones(6))
    ]
    ratio = sum(chance * (E[S] @ (1 / pi[S])) / (1 / pi[S]).sum() for chance, S in cohorts)
    assert group.fedavg(presence) == pytest.approx(plain)
    assert group.horvitz_thompson(presence) == pytest.approx(unscaled[0] / unscaled[1])
    assert group.hajek(presence) == pytest.approx(ratio)
    gone = (1 - presence) ** SIZE
    assert group.one_of_each(presence) == pytest.approx((1 - gone) * 5 / 3 + gone * 0.5)


def test_all_rest_at_the_optimum_with_everybody_and_at_the_mean_of_the_others_with_nobody() -> None:
    group = AbsentGroup()
    ways = (group.fedavg, group.one_of_each, group.horvitz_thompson, group.hajek)
    assert [way(1.0) for way in ways] == pytest.approx([2.5] * 4)
    assert [way(0.0) for way in ways] == pytest.approx([1.0] * 4)


def test_a_cohort_that_those_who_stay_cannot_fill_is_refused() -> None:
    with pytest.raises(ValueError, match="clients_per_round=4: only 3"):
        AbsentGroup(1)
    assert AbsentGroup(1, clients_per_round=3).fedavg(0.0) == pytest.approx(1.0)
