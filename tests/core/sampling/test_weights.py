"""Aggregation weights ω ∝ ρ/π."""

import numpy as np
import pytest

from fedlab_core.sampling import weights


def test_weights_by_hand():
    """ρ/π = 0.4, 0.4, 1.2: normalised 0.2, 0.2, 0.6."""
    shares, probabilities = np.array([0.2, 0.1, 0.3]), np.array([0.5, 0.25, 0.25])
    assert np.allclose(weights(shares, probabilities), [0.2, 0.2, 0.6])
    assert np.allclose(weights(shares, probabilities, literal=True), [0.4, 0.4, 1.2])


def test_equal_probabilities_give_the_sample_weights_of_the_cohort():
    shares = np.array([0.02, 0.01, 0.05])
    assert np.allclose(weights(shares, np.full(3, 0.1)), shares / shares.sum())


def test_literal_weights_are_n_over_k_times_the_share():
    """[004] algorithm 1 at N = 100, K = 10; they sum to 1 for equal data only."""
    equal, unequal = np.full(10, 0.01), np.linspace(0.001, 0.01, 10)
    pi = np.full(10, 0.1)
    assert np.allclose(weights(equal, pi, literal=True), weights(equal, pi))
    assert np.allclose(weights(unequal, pi, literal=True), 100 / 10 * unequal)
    assert weights(unequal, pi, literal=True).sum() == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("shares", "probabilities", "message"),
    [
        ([0.1, 0.2], [0.0, 0.5], "probabilities=0 … 0.5"),
        ([0.1, 0.2], [0.5, 1.5], "probabilities=0.5 … 1.5"),
        ([0.1, -0.2], [0.5, 0.5], "shares: must not be negative"),
        ([0.0, 0.0], [0.5, 0.5], "one must be positive"),
        ([0.1], [0.5, 0.5], "must be"),
        ([], [], "K ≥ 1"),
    ],
)
def test_bad_values_are_named(shares, probabilities, message):
    with pytest.raises(ValueError, match=message):
        weights(np.array(shares), np.array(probabilities))
