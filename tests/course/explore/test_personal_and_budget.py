"""The explorers of the further track: Ditto's pull against its closed form, and a budget of megabytes."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.chapters.ch13_one_or_several.ideas import personal
from fedlab_course.chapters.ch14_what_is_sent.ideas import budget, spent


def test_the_error_of_ditto_is_that_of_a_simulation():
    """z_k = (b_k + λ w*)/(1 + λ) for drawn clients, over many draws."""
    rng, strength, chance, spread, count = np.random.default_rng(0), 0.7, 1.3, 0.6, 5
    true = rng.normal(scale=np.sqrt(spread), size=(200_000, count))
    known = true + rng.normal(scale=np.sqrt(chance), size=true.shape)
    own = (known + strength * known.mean(1, keepdims=True)) / (1 + strength)
    measured = ((own - true) ** 2).mean()
    assert sum(theory.ditto_error(strength, chance, spread, count)) == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize("clients", [2, 7, np.inf])
def test_the_best_pull_is_chance_over_spread(clients):
    strengths = np.geomspace(0.01, 100, 4001)
    error = sum(theory.ditto_error(strengths, 2.0, 0.5, clients))
    assert strengths[error.argmin()] == pytest.approx(4.0, rel=0.01)


def test_alone_all_chance_is_left_and_one_model_has_the_spread():
    assert sum(theory.ditto_error(0.0, 2.0, 0.5)) == 2.0
    assert sum(theory.ditto_error(np.inf, 2.0, 0.5)) == 0.5


@pytest.mark.parametrize("make", [personal, budget])
def test_every_position_has_a_figure_in_words_and_the_goal_is_within_reach(make):
    idea = make()
    assert idea.reached is False
    texts, reached = set(), False
    first, second = idea.sliders.values()
    for _, one in first.options:
        for _, other in second.options:
            first.value, second.value = one, other
            assert idea.message == ""
            texts.add(fl.plots.describe(idea.figure()))
            reached |= bool(idea.reached)
    assert reached and len(texts) == len(first.options) * len(second.options)


def test_a_budget_is_read_off_the_curve():
    assert spent(1.0, 5) == pytest.approx(2 * spent(1.0, 5, "up"))  # FedAvg sends as much up as down
    down = spent(0.1, 5) - spent(0.1, 5, "up")
    assert spent(0.1, 5, "up") / down == pytest.approx(8 * round(0.1 * 15_010) / (4 * 15_010), rel=1e-4)
