"""The colours of curves: seen on their ground, and told apart, by readers who do not see all colours too."""

from itertools import combinations

import pytest

from fedlab_core.plots import style
from tests.sight import EYES, apart, contrast

COLOURS = [style.look(slot).colour for slot in range(7)]


@pytest.mark.parametrize("colour", [*COLOURS, style.GREY])
def test_a_curve_stands_out_from_white(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 3  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize("eye", EYES)
def test_two_curves_differ_for_every_eye(eye: str) -> None:
    for a, b in combinations(COLOURS, 2):
        assert apart(a, b, eye) >= 15, (a, b)


def test_no_meaning_rests_on_colour_alone() -> None:
    for a, b in combinations([style.look(slot) for slot in range(7)], 2):
        assert a.dash != b.dash
        assert a.marker != b.marker
