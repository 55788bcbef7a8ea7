"""A verdict follows from the interval and the margin, and Holm's correction from the p-values."""

import math

import pytest

from fedlab_course.evidence import judging
from fedlab_course.evidence.judging import corrected, judge

# For four numbers the 97.5 % quantile of Student's t with 3
# degrees of freedom is 3.182446305 (tables).
QUANTILE = 3.182446305


def verdict(values, margin, expect="positive", **given):
    return judge("x", values, margin, expect=expect, planned=4, **given)


def test_interval_is_students_t():
    values = [1.0, 2.0, 3.0, 4.0]  # mean 2.5, variance 5/3, standard error √(5/12)
    found = verdict(values, 0.0)
    assert found.mean == 2.5
    assert found.high - found.mean == pytest.approx(QUANTILE * math.sqrt(5 / 12))
    assert found.mean - found.low == pytest.approx(QUANTILE * math.sqrt(5 / 12))


@pytest.mark.parametrize(
    ("centre", "margin", "expect", "word"),
    [
        (5, 1, "positive", "holds"),
        (-5, 1, "positive", "opposite"),
        (0, 4, "positive", "equivalent"),
        (1.5, 1, "positive", "undecided"),
        (2.5, 1, "positive", "higher"),
        (-2.5, 1, "positive", "lower"),
        (0, 4, "zero", "confirmed"),
        (5, 1, "zero", "refuted"),
        (-5, 1, "zero", "refuted"),
        (1.5, 1, "zero", "undecided"),
        (2.5, 1, "zero", "higher"),
        (-2.5, 1, "zero", "lower"),
    ],
)
def test_words(centre, margin, expect, word):
    # half-width QUANTILE · √(4/3) / 2 = 1.84
    values = [centre - 1, centre - 1, centre + 1, centre + 1]
    assert verdict(values, margin, expect).verdict == word


def test_the_edge_of_the_margin_decides_and_the_one_sided_test_has_p_of_a_fortieth_there():
    half = QUANTILE * math.sqrt(4 / 3) / 2
    for values, edge, sign, word, beyond in (
        ([2, 2, 4, 4], 3 - half, -1, "holds", "higher"),
        ([-4, -4, -2, -2], 3 - half, -1, "opposite", "lower"),
        ([-1, -1, 1, 1], half, 1, "equivalent", "undecided"),
    ):
        assert verdict(values, edge + sign * 1e-9).verdict == word
        assert verdict(values, edge - sign * 1e-9).verdict == beyond
        assert verdict(values, edge + sign * 1e-9).p == pytest.approx(0.025, rel=1e-5)


def test_no_seeds_and_one_seed_decide_nothing_unless_there_is_no_chance():
    assert verdict([], 1.0).verdict == "not measured"
    assert verdict([7.0], 1.0).verdict == "undecided"
    assert verdict([7.0], 1.0, exact=True).verdict == "holds"
    assert verdict([0.0], 0.0, "zero", exact=True).verdict == "confirmed"
    assert verdict([1e-12], 0.0, "zero", exact=True).verdict == "refuted"


def test_a_sign_that_is_known_has_the_p_of_a_test_against_zero():
    half = QUANTILE * math.sqrt(4 / 3) / 2
    values = [half - 1, half - 1, half + 1, half + 1]  # the interval begins at zero
    assert verdict([value + 1e-9 for value in values], 1.0).p == pytest.approx(0.025, rel=1e-5)
    assert verdict([value - 1e-9 for value in values], 1.0).verdict == "undecided"


def test_equal_numbers_have_an_interval_without_width():
    found = verdict([2.0, 2.0, 2.0], 0.0)
    assert (found.low, found.high, found.verdict, found.p) == (2.0, 2.0, "holds", 0.0)
    assert found.n < found.planned


def test_holm_by_hand():
    """Four p-values against 0.025 / 4, / 3, / 2, / 1: the third fails, and the fourth with it,
    small as it is.
    """
    p = {"a": 0.001, "b": 0.008, "c": 0.013, "d": 0.02}
    given = {id: judging.Finding(id, "holds", 1, 0, 2, 4, 4, 0, value) for id, value in p.items()}
    assert {id: one.corrected for id, one in corrected(given).items()} == {
        "a": True,
        "b": True,
        "c": False,
        "d": False,
    }
