"""Who is there: the law of independent coins."""

import numpy as np
import pytest

from fedlab_core.sampling import Bernoulli


def test_each_client_is_there_with_its_probability_whoever_else_is():
    """Frequencies within 4.5 standard deviations, alone and in pairs; 0 and 1 are exact."""
    p, rng, rounds = np.array([0.0, 0.1, 0.5, 0.9, 1.0]), np.random.default_rng(0), 6000
    there = np.stack([Bernoulli(p).available(round, rng) for round in range(1, rounds + 1)]).astype(float)
    together, expected = there.T @ there / rounds, np.outer(p, p)
    np.fill_diagonal(expected, p)
    assert (np.abs(together - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / rounds)).all()


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [([0.5, 1.5], "each from 0 to 1"), ([0.5, np.nan], "each from 0 to 1"), ([], "one per client")],
)
def test_bad_probabilities_are_named(probabilities, message):
    with pytest.raises(ValueError, match=message):
        Bernoulli(np.array(probabilities))
