"""The figures of chapter 10: drift, noise and where they cross, the gap, and local work."""

import numpy as np
import pytest

from fedlab_core.plots import describe
from fedlab_course import theory
from fedlab_course.chapters.ch10_bounds import client_differences, exercises, figures
from fedlab_course.check import own, registry
from fedlab_course.evidence import tables


def drawn(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


@pytest.fixture(scope="module")
def five() -> figures.Parts:
    return figures.measured(exercises.one_round, 5)


def test_drift_of_a_round_is_that_of_the_closed_form(five) -> None:
    rates = figures.falling_rate(np.arange(figures.TOTAL // 5) * 5)
    path = theory.fedavg_path([1, 3], [0, 1], rates, 5)
    wanted = (path[five.steps // 5] - 0.75) ** 2
    assert five.drift == pytest.approx(wanted, rel=1e-6)
    assert figures.expected(5).drift == pytest.approx(wanted)


def test_noise_is_the_variance_that_the_recursion_gives(five) -> None:
    """A variance from 200 runs has a relative standard deviation of a tenth."""
    assert five.noise == pytest.approx(figures.expected(5).noise, rel=0.4)
    assert five.noise.mean() > 0


def test_one_round_adds_the_variance_of_its_noise() -> None:
    """At τ = 1 and the rates 2/24 and 2/25: Var = η² σ²/2, then (1 − 2η)² Var + η² σ²/2."""
    first = (2 / 24) ** 2 / 2
    second = (1 - 2 * 2 / 25) ** 2 * first + (2 / 25) ** 2 / 2
    kept = []
    for rounds in (1, 2):
        mean = []
        for seed in range(2000):
            rng = np.random.default_rng(seed)
            w = np.zeros(1)
            for i in range(rounds):
                noise = rng.normal(size=(1, 2, 1))
                rate = float(figures.falling_rate(i))
                w = exercises.one_round(w, figures.A, figures.B, rate, noise)
            mean.append(float(w[0]))
        kept.append(np.var(mean))
    assert kept == pytest.approx([first, second], rel=0.12)


@pytest.mark.parametrize("tau", [2, 10, 15])
def test_both_parts_fall_onto_their_lines(tau: int) -> None:
    parts = figures.expected(tau)
    last = parts.steps[-1] + figures.GAMMA
    assert parts.drift[-1] == pytest.approx((tau - 1) ** 2 / (4 * last**2), rel=0.02)
    assert parts.noise[-1] == pytest.approx(2 / (7 * last), rel=0.05)


def test_one_local_step_has_no_drift() -> None:
    """What is left is the start: w − 0.75 = −0.75 Π (1 − 4/(i + 24)), which falls like i^−4."""
    parts = figures.expected(1)
    i = parts.steps + 0.0
    product = 20 * 21 * 22 * 23 / ((i + 20) * (i + 21) * (i + 22) * (i + 23))
    assert parts.drift == pytest.approx((0.75 * product) ** 2)


def test_the_lines_are_equally_high_where_they_cross() -> None:
    for tau, sigma in ((5, 0.1), (10, 0.2)):
        later = figures.crossing(tau, sigma) + figures.GAMMA
        assert (tau - 1) ** 2 / (4 * later**2) == pytest.approx(2 * sigma**2 / (7 * later))


def test_two_lines_draw_the_readers_dots_and_say_whose_they_are(five) -> None:
    idea = figures.two_lines(exercises.one_round)
    figure = idea.figure(tau=5, sigma=0.2)
    drift, noise = [trace for trace in figure.data if trace.mode == "markers"]
    assert drift.y == pytest.approx(five.drift)
    assert noise.y == pytest.approx(0.04 * five.noise)
    assert drawn(figure, "both").y == pytest.approx(five.drift + 0.04 * five.noise)
    assert figure.layout.title.text == "τ = 5, σ = 0.2, with your code"
    assert f"cross after {figures.crossing(5, 0.2):,.0f} steps" in describe(figure)
    solution = registry.get("10-round")
    theirs = figures.rates(own.mark(solution.build(solution.solution_source)))
    assert theirs.layout.title.text == "No noise, τ = 10, with the course's solution"


def test_a_constant_rate_stops_and_a_falling_one_does_not() -> None:
    """At η = 0.1 and ten steps FedAvg stops at 0.5987, as in chapter 1."""
    figure = figures.rates(exercises.one_round)
    assert drawn(figure, "η = 0.1").y[-1] == pytest.approx((0.75 - 0.5987111211) ** 2, abs=1e-9)
    falling = drawn(figure, "falling")
    assert falling.y[-1] == pytest.approx((9 / (2 * (falling.x[-1] + 24))) ** 2, rel=0.04)
    slope = drawn(figure, "slope −2")
    assert np.log10(slope.y[0] / slope.y[2]) == pytest.approx(2 * np.log10(slope.x[2] / slope.x[0]))


def test_the_bound_is_that_of_theorem_1_and_lies_above_the_error(five) -> None:
    """By hand for τ = 5, σ = 0: B = 6·3·3/16 + 8·16·9 = 1155.375, H = 3 (2 B + 24·0.5625/2)."""
    (found,) = figures.bound(np.array([30_000]), 5, 0.0)
    assert found == pytest.approx(3 * (2 * 1155.375 + 6.75) / 30_024)
    assert (figures.bound(five.steps, 5, 0.2) > five.drift + 0.04 * five.noise).all()


def test_equal_curvatures_have_a_gap_and_no_drift() -> None:
    figure = client_differences.gap_and_drift(exercises.heterogeneity_gap, exercises.one_round)
    gap = drawn(figure, "gap Γ")
    drift = drawn(figure, "height of drift")
    assert (gap.x[0], gap.y[0]) == (1.0, pytest.approx(0.125))
    assert drift.y[0] == pytest.approx(0, abs=1e-6), "what is left of the start"
    at_three = list(drift.x).index(3.0)
    assert gap.y[at_three] == pytest.approx(0.1875)
    assert drift.y[at_three] == pytest.approx(0.25, rel=0.02)


def test_bars_add_up_to_one_variance() -> None:
    totals = client_differences.totals()
    assert totals.shape == (10, 3)
    assert np.ptp(totals) < 1e-4 * totals.max()
    noise, between = client_differences.shares().data
    assert np.add(noise.x, between.x) == pytest.approx([totals.mean()] * 3, rel=1e-4)
    assert list(noise.y) == ["IID", "two labels", "one label"]


def test_local_work_has_a_dot_for_each_seed_and_a_line_of_geometric_means() -> None:
    figure = client_differences.local_work()
    rows = tables.matching("local_work", {"algorithm": "fedavg", "split": "iid"})
    dots = next(trace for trace in figure.data if trace.mode == "markers")
    assert sorted(dots.y) == sorted(rows["rounds"])
    line = drawn(figure, "IID")
    mine = rows[rows.local_epochs == 40]["rounds"]
    assert line.y[list(line.x).index(40)] == pytest.approx(np.exp(np.log(mine).mean()), rel=1e-4)
    rings = [trace for trace in figure.data if trace.name == "best E"]
    for ring, split in zip(rings, ("iid", "two_labels", "one_label"), strict=True):
        best = tables.matching("local_work_best", {"algorithm": "fedavg", "split": split})
        assert np.log2(sorted(ring.x)) == pytest.approx(sorted(best["log2_epochs"]), abs=1e-4)
