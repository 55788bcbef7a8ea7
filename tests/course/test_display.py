"""The boxes of verdicts: on any ground their words take its ink, and their edge is seen."""

import re

import pytest

from fedlab_course import display
from tests.sight import contrast


# White, and the dark grounds of JupyterLab and of a page.
@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#15181c"])
@pytest.mark.parametrize("edge", [display.GOOD, display.MIXED, display.OPEN])
def test_the_edge_stands_out_from_every_ground(edge: str, ground: str) -> None:
    assert contrast(edge, ground) >= 3


def test_no_word_has_a_colour_of_its_own() -> None:
    from fedlab_course.check import claims, verdicts

    box = claims._as_html({"claim": "a", "holds": False, "evidence": "b"})
    box += verdicts._as_html(verdicts.Verdict("01-x", "x", "wrong", "Look at `y`.", 0, 1))
    styles = re.findall(r'style="([^"]*)"', box)
    assert len(styles) == 3
    assert not any(re.search(r"(^|;)\s*(color|background)", style) for style in styles)
