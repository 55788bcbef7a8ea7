"""Designs: sizes, floor and ceiling shares, and probabilities, exactly and by Monte Carlo."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedlab_core.sampling import AtLeastOne, Bernoulli, Systematic, Uniform, weights

DRAWS = 2500


@st.composite
def populations(draw) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Labels (noise among them), a mask, K and a seed."""
    num = draw(st.integers(1, 40))
    labels = np.array(draw(st.lists(st.integers(-1, 5), min_size=num, max_size=num)))
    mask = np.array(draw(st.lists(st.booleans(), min_size=num, max_size=num)))
    return labels, mask, draw(st.integers(1, 45)), draw(st.integers(0, 2**32 - 1))


def assert_proper(cohort: np.ndarray, mask: np.ndarray) -> None:
    assert cohort.dtype == np.int64 and (np.diff(cohort) > 0).all() and mask[cohort].all()


@settings(deadline=None)
@given(populations())
def test_uniform_and_systematic_draw_exactly_k_and_systematic_the_share_of_each_cluster(population):
    labels, mask, size, seed = population
    for design in (Uniform(mask, size), Systematic(labels, size, mask)):
        cohort = design.draw(np.random.default_rng(seed))
        assert_proper(cohort, mask)
        assert len(cohort) == min(size, mask.sum())
        assert design.probabilities.sum() == pytest.approx(len(cohort))
        assert (design.probabilities[~mask] == 0).all()
    for c in np.unique(labels[mask]):
        num = int((labels[mask] == c).sum())
        drawn = int((labels[cohort] == c).sum())
        assert abs(drawn * mask.sum() - num * len(cohort)) < mask.sum()


@settings(deadline=None)
@given(populations(), st.floats(0.01, 1))
def test_at_least_one_draws_its_number_from_every_stratum(population, fraction):
    labels, mask, _, seed = population
    design = AtLeastOne(labels, fraction, mask)
    cohort = design.draw(np.random.default_rng(seed))
    assert_proper(cohort, mask)
    assert set(np.flatnonzero(mask & (labels < 0))) <= set(cohort)
    for c in np.unique(labels[mask & (labels >= 0)]):
        num = (labels[mask] == c).sum()
        drawn = (labels[cohort] == c).sum()
        assert drawn >= 1 and (drawn == 1 or abs(drawn - fraction * num) <= 0.5 + 1e-9)
        assert np.allclose(design.probabilities[mask & (labels == c)], drawn / num)
    assert (design.probabilities[~mask] == 0).all()


class FixedStart:
    """In place of a generator: keeps the order, and starts where it is told."""

    def __init__(self, start: int) -> None:
        self.start = start

    def permutation(self, values):
        return values

    def integers(self, high):
        assert 0 <= self.start < high
        return self.start


@pytest.mark.parametrize(("num", "size"), [(97, 10), (29, 28), (7, 7)])
def test_systematic_inclusion_is_exactly_k_over_n(num, size):
    """Without chance: over all equally likely starts, every client is drawn by K of n."""
    labels = np.sort(np.arange(num) % 6 - 1)
    counts = np.zeros(num, dtype=int)
    for start in range(num):
        counts[Systematic(labels, size).draw(FixedStart(start))] += 1
    assert (counts == size).all()


@pytest.mark.parametrize(
    "labels", [np.zeros(8, dtype=int), np.full(8, -1)], ids=["one cluster", "all noise"]
)
def test_systematic_without_strata_is_simple_random_sampling(labels):
    """Every pair together with probability K(K − 1)/(n(n − 1)); systematic sampling of a fixed row
    has zeros here.
    """
    rng = np.random.default_rng(1)
    size = 3
    together = np.zeros((8, 8))
    for _ in range(DRAWS):
        cohort = Systematic(labels, size).draw(rng)
        together[np.ix_(cohort, cohort)] += 1
    expected = size * (size - 1) / (8 * 7)
    pairs = together[np.triu_indices(8, 1)] / DRAWS
    assert (np.abs(pairs - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / DRAWS)).all()


@pytest.mark.parametrize("kind", ["uniform", "systematic", "at least one"])
def test_horvitz_thompson_is_unbiased_for_unequal_shares(kind):
    rng = np.random.default_rng(2)
    labels = np.repeat([-1, 0, 1, 2], [2, 3, 5, 10])
    shares = rng.dirichlet(np.ones(20))
    values = rng.normal(size=20)
    everyone = np.ones(20, dtype=bool)
    design = {
        "uniform": Uniform(everyone, 6),
        "systematic": Systematic(labels, 6),
        "at least one": AtLeastOne(labels, 0.3),
    }[kind]
    cohorts = [design.draw(rng) for _ in range(DRAWS)]
    estimates = np.array(
        [weights(shares[c], design.probabilities[c], literal=True) @ values[c] for c in cohorts]
    )
    assert estimates.std() > 0.01
    assert abs(estimates.mean() - shares @ values) < 4.5 * estimates.std() / np.sqrt(DRAWS)


def test_nobody_there_gives_an_empty_cohort():
    nobody = np.zeros(4, dtype=bool)
    labels = np.array([0, 0, -1, 1])
    for design in (
        Uniform(nobody, 2),
        Systematic(labels, 2, nobody),
        AtLeastOne(labels, 0.5, nobody),
    ):
        assert design.draw(np.random.default_rng(0)).tolist() == []
        assert design.probabilities.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform(np.ones(3), 1), "available: must be a bool array"),
        (lambda: Systematic(np.array([0, -2]), 1), "labels: must be"),
    ],
)
def test_bad_values_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# weights


def test_weights_by_hand():
    """ρ/π = 0.4, 0.4, 1.2: normalised 0.2, 0.2, 0.6."""
    shares = np.array([0.2, 0.1, 0.3])
    probabilities = np.array([0.5, 0.25, 0.25])
    assert np.allclose(weights(shares, probabilities), [0.2, 0.2, 0.6])
    assert np.allclose(weights(shares, probabilities, literal=True), [0.4, 0.4, 1.2])


@pytest.mark.parametrize("probabilities", [[0.0, 0.5], [0.5, 1.5]])
def test_impossible_probabilities_are_named(probabilities):
    with pytest.raises(ValueError, match="probabilities=0"):
        weights(np.array([0.1, 0.2]), np.array(probabilities))


# availability


def test_each_client_is_there_with_its_probability_whoever_else_is():
    """Frequencies within 4.5 standard deviations, alone and in pairs; 0 and 1 are exact."""
    p = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    rng = np.random.default_rng(0)
    rounds = 6000
    there = np.stack([Bernoulli(p).available(round, rng) for round in range(1, rounds + 1)]).astype(
        float
    )
    together = there.T @ there / rounds
    expected = np.outer(p, p)
    np.fill_diagonal(expected, p)
    assert (np.abs(together - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / rounds)).all()


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [([0.5, 1.5], "each from 0 to 1"), ([0.5, np.nan], "each from 0 to 1")],
)
def test_bad_probabilities_are_named(probabilities, message):
    with pytest.raises(ValueError, match=message):
        Bernoulli(np.array(probabilities))
