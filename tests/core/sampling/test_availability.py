"""Who is there: laws, traces, and unconditional inclusion probabilities against enumeration and closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedlab_core.sampling import Bernoulli, Systematic, Trace, Uniform, weights
from fedlab_core.sampling.availability import num_available, others_available


def enumerated_inclusion(probabilities: np.ndarray, size: int) -> np.ndarray:
    """π by listing all 2^N sets of available clients."""
    total = np.zeros(len(probabilities))
    for present in product([False, True], repeat=len(probabilities)):
        mask = np.array(present)
        chance = np.where(mask, probabilities, 1 - probabilities).prod()
        total += chance * mask * min(1, size / max(1, mask.sum()))
    return total


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(1, 9))
def test_inclusion_is_that_of_all_subsets(probabilities, size):
    p = np.array(probabilities)
    assert np.allclose(Bernoulli(p).inclusion(size), enumerated_inclusion(p, size), rtol=0, atol=1e-13)


def test_equal_chances_have_the_binomial_closed_form():
    """N equal clients share E min(K, B) places, B ~ Binomial(N, p)."""
    b = np.arange(101)
    expected = (np.minimum(10, b) * stats.binom.pmf(b, 100, 0.07)).sum() / 100
    assert np.allclose(Bernoulli(np.full(100, 0.07)).inclusion(10), expected, rtol=1e-12)


def test_always_there_gives_k_over_n_and_never_there_gives_zero():
    p = np.array([1.0] * 8 + [0.0] * 4)
    assert np.allclose(Bernoulli(p).inclusion(2), [0.25] * 8 + [0.0] * 4, rtol=0, atol=1e-15)
    assert Bernoulli(p).inclusion(20).tolist() == p.tolist()


@pytest.mark.parametrize("law", ["uniform", "half", "extreme"])
def test_taking_one_client_out_is_exact_for_a_hundred(law):
    """Against the law of the other 99, summed up directly."""
    rng = np.random.default_rng(0)
    p = {
        "uniform": rng.random(100),
        "half": np.full(100, 0.5),
        "extreme": rng.choice([0, 1e-12, 1e-3, 0.5, 0.999, 1 - 1e-12, 1], 100),
    }[law]
    others = others_available(p)
    for k in range(100):
        assert np.abs(others[k] - num_available(np.delete(p, k))).max() < 1e-13


def test_number_available_is_poisson_binomial():
    """E z^B = Π (1 − p_k + p_k z), taken at the 31st roots of unity and transformed back."""
    p = np.random.default_rng(1).random(30)
    z = np.exp(2j * np.pi * np.arange(31) / 31)
    law = np.fft.fft(np.prod(1 - p + p * z[:, None], axis=1)).real / 31
    assert np.allclose(num_available(p), law, rtol=0, atol=1e-14)


def test_probabilities_add_up_to_the_expected_cohort_size_for_a_thousand():
    p = np.random.default_rng(2).beta(0.5, 2, 1000)
    expected = np.minimum(150, np.arange(1001)) @ num_available(p)
    assert Bernoulli(p).inclusion(150).sum() == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("stratified", [False, True])
def test_weights_from_inclusion_undo_absence(stratified):
    """E Σ_S (ρ_k/π_k) y_k = Σ ρ_k y_k over both draws, while equal weights lean to those who are often there."""
    rng = np.random.default_rng(3)
    p, shares = np.linspace(0.1, 1, 12), rng.dirichlet(np.full(12, 5.0))
    values, labels = np.arange(12.0), np.arange(12) // 4
    law, pi = Bernoulli(p), Bernoulli(p).inclusion(4)
    estimates, naive, seen = [], [], np.zeros(12)
    for round in range(1, 6001):
        mask = law.available(round, rng)
        cohort = (Systematic(labels, 4, mask) if stratified else Uniform(mask, 4)).draw(rng)
        seen[cohort] += 1
        estimates.append((weights(shares[cohort], pi[cohort], literal=True) @ values[cohort]) if len(cohort) else 0.0)
        naive.append(values[cohort].mean() if len(cohort) else values.mean())
    assert (np.abs(seen / 6000 - pi) < 4.5 * np.sqrt(pi * (1 - pi) / 6000)).all()
    assert abs(np.mean(estimates) - shares @ values) < 4.5 * np.std(estimates) / np.sqrt(6000)
    assert np.mean(naive) - values.mean() > 20 * np.std(naive) / np.sqrt(6000)


def test_a_trace_repeats_after_its_end_and_draws_nothing():
    table = np.array([[True, False, True], [False, True, True]])
    trace = Trace(table)
    for round in range(1, 8):
        assert (trace.available(round, np.random.default_rng(round)) == table[(round - 1) % 2]).all()
    rng, untouched = np.random.default_rng(5), np.random.default_rng(5)
    trace.available(1, rng)
    assert rng.random() == untouched.random()


def test_inclusion_over_a_trace_is_the_mean_over_its_rounds():
    """By hand, K = 1: rows with 2, 1, 0 and 3 clients there."""
    table = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
    assert np.allclose(Trace(table).inclusion(1), [(1 / 2 + 1 / 3) / 4, (1 / 2 + 1 / 3) / 4, (1 + 1 / 3) / 4])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(np.array([0.5, 1.5])), "each from 0 to 1"),
        (lambda: Bernoulli(np.array([0.5, np.nan])), "each from 0 to 1"),
        (lambda: Bernoulli(np.array([])), "one per client"),
        (lambda: Bernoulli(np.array([0.5])).inclusion(0), "clients_per_round=0"),
        (lambda: Trace(np.ones(3, dtype=bool)), "table: must be a bool array"),
        (lambda: Trace(np.ones((2, 3))), "table: must be a bool array"),
        (lambda: Trace(np.ones((2, 3), dtype=bool)).available(0, np.random.default_rng(0)), "round=0"),
    ],
)
def test_bad_values_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
