"""Inclusion probabilities of clients that are not always there, against enumeration and closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedlab_core.sampling import Bernoulli, Systematic, Uniform, weights
from fedlab_course.theory import inclusion


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


def test_always_there_gives_k_over_n_and_never_there_gives_zero():
    p = np.array([1.0] * 8 + [0.0] * 4)
    assert np.allclose(inclusion(p, 2), [0.25] * 8 + [0.0] * 4, rtol=0, atol=1e-15)
    assert inclusion(p, 20).tolist() == p.tolist()


@pytest.mark.parametrize("stratified", [False, True])
def test_weights_from_inclusion_undo_absence(stratified):
    """E Σ_S (ρ_k/π_k) y_k = Σ ρ_k y_k over both draws, while equal weights lean to those who are often there."""
    rng = np.random.default_rng(3)
    p, shares = np.linspace(0.1, 1, 12), rng.dirichlet(np.full(12, 5.0))
    values, labels = np.arange(12.0), np.arange(12) // 4
    law, pi = Bernoulli(p), inclusion(p, 4)
    estimates, naive, seen = [], [], np.zeros(12)
    for round in range(1, 2001):
        mask = law.available(round, rng)
        cohort = (Systematic(labels, 4, mask) if stratified else Uniform(mask, 4)).draw(rng)
        seen[cohort] += 1
        estimates.append((weights(shares[cohort], pi[cohort], literal=True) @ values[cohort]) if len(cohort) else 0.0)
        naive.append(values[cohort].mean() if len(cohort) else values.mean())
    assert (np.abs(seen / 2000 - pi) < 4.5 * np.sqrt(pi * (1 - pi) / 2000)).all()
    assert abs(np.mean(estimates) - shares @ values) < 4.5 * np.std(estimates) / np.sqrt(2000)
    assert np.mean(naive) - values.mean() > 10 * np.std(naive) / np.sqrt(2000)


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="clients_per_round=0"):
        inclusion(np.array([0.5]), 0)
    with pytest.raises(ValueError, match="probabilities: must be"):
        inclusion(np.array([0.5, 1.5]), 1)
