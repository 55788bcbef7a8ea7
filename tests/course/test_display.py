"""The boxes of verdicts: on any ground their words take its ink, and their edge is seen."""

import re

import pytest

from fedlab_core.plots.colours import VERDICTS
from fedlab_course import display
from tests.sight import contrast


# White, and the dark grounds of JupyterLab and of a page.
@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#15181c"])
@pytest.mark.parametrize("edge", [VERDICTS["good"], VERDICTS["mixed"], VERDICTS["open"]])
def test_the_edge_stands_out_from_every_ground(edge: str, ground: str) -> None:
    assert contrast(edge, ground) >= 3


def test_no_word_has_a_colour_of_its_own_and_the_sign_decides_that_of_the_edge() -> None:
    """Tags and code are escaped."""
    signs = {
        "✓ holds": VERDICTS["good"],
        "✗ not yet": VERDICTS["mixed"],
        "? undecided": VERDICTS["open"],
        "○ to do": VERDICTS["open"],
    }
    for word, edge in signs.items():
        box = display.verdict("kind", word, "a < b", ["See `y`."])["text/html"]
        styles = re.findall(r'style="([^"]*)"', box)
        assert len(styles) == 2 and sum(edge in style for style in styles) == 1
        assert not any(re.search(r"(^|;)\s*(color|background)", style) for style in styles)
        assert "a &lt; b" in box and "See <code>y</code>." in box and 'class="kind"' in box


def test_a_verdict_is_text_and_data_as_well() -> None:
    bundle = display.verdict("kind", "✓ holds", "It is so", ["First.", "Second."], {"x/y": 1})
    assert bundle["text/plain"] == "✓ holds: It is so. First. Second." and bundle["x/y"] == 1
    assert (
        display.verdict("kind", "✓ holds", "Is it so?", ["Yes."])["text/plain"]
        == "✓ holds: Is it so? Yes."
    )
    assert display.verdict("kind", "✓ holds", "It is so")["text/plain"] == "✓ holds: It is so"


def test_a_remark_shows_code_as_code() -> None:
    bundle = display.remark("`f` < 2.")
    assert bundle["text/html"] == "<p><code>f</code> &lt; 2.</p>"
    assert bundle["text/plain"] == "`f` < 2."
