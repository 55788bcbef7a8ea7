"""Random cohorts are judged by counts: how often a right answer is turned away is computed, and
cohorts that are not random enough are found.
"""

import math

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course.check import chances
from fedlab_course.check.base import Hint

N = 6
HALF = {"clients_per_round": 3}


def outside(rounds: int, probability: float, low: int, high: int) -> float:
    """The probability of a binomial count below ``low`` or above ``high``, added up."""
    inside = math.fsum(
        math.exp(
            math.lgamma(rounds + 1)
            - math.lgamma(k + 1)
            - math.lgamma(rounds - k + 1)
            + k * math.log(probability)
            + (rounds - k) * math.log1p(-probability)
        )
        for k in range(low, high + 1)
    )
    return 1 - inside


@pytest.mark.parametrize("probability", [0.25, 0.375, 0.5])
def test_a_right_count_is_outside_the_limits_as_seldom_as_they_say(probability: float) -> None:
    alarm = chances.FALSE_ALARM / 12
    low, high = chances.limits(chances.ROUNDS, probability, alarm)
    assert outside(chances.ROUNDS, probability, low, high) <= alarm + 1e-11
    assert outside(chances.ROUNDS, probability, low + 2, high - 2) > alarm
    assert chances.limits(chances.ROUNDS, 1.0, alarm) == (chances.ROUNDS, chances.ROUNDS)


class Sampled(fl.Algorithm):
    """Draws cohorts by ``draw(server, rng)``."""

    def __init__(self, draw) -> None:
        self.draw = draw

    def cohorts(self, server):
        yield self.draw(server, server.stream("cohort"))

    def describe(self):
        return {"name": "Sampled"}


def uniform(server, rng):
    return rng.choice(N, 3, replace=False)


def judged(draw) -> str:
    """The hint on a draw of three of six clients, "" if it passes."""
    try:
        cohorts = chances.cohorts_of(Sampled, [draw], N, HALF)
        chances.require_counts(chances.counted(cohorts, N), [1 / 2] * N, "{place}: {count}")
        chances.require_meetings(cohorts, N, list(range(N)), "{first} and {second}")
        chances.require_stream(Sampled, [draw], N, HALF, "`rng`")
    except Hint as hint:
        return str(hint)
    return ""


@pytest.mark.parametrize("seed", range(5))
def test_a_uniform_draw_passes_whatever_its_stream(seed: int) -> None:
    def draw(server, rng):
        return server.stream(f"stream {seed}").permutation(N)[:3]

    assert judged(draw) == "" == judged(uniform)


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda server, rng: np.arange(3), f"0: {chances.ROUNDS}"),
        (lambda server, rng: rng.choice(N, 3, replace=False, p=[0.28] + [0.144] * 5), "0: "),
        (lambda server, rng: (np.arange(3) + rng.integers(N)) % N, "0 and 3"),
        (lambda server, rng: np.random.default_rng().permutation(N)[:3], "same seed"),
        (
            lambda server, rng: np.random.default_rng(server.round).permutation(N)[:3],
            "seeds 1 and 2 draw the same",
        ),
    ],
    ids=["fixed", "biased", "neighbours", "without a seed", "a seed of its own"],
)
def test_a_draw_that_is_not_random_enough_is_told_why(draw, said: str) -> None:
    assert said in judged(draw)
