"""Colours on light and dark grounds: the contrast of WCAG 2.2, and that as little changes as must."""

import colorsys
import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlab_core.plots import style
from fedlab_course import chart
from fedlab_course.chapters.ch05_fedsso import figures as clusters
from fedlab_course.publish import colours, pages
from tests.sight import EYES, apart

SCHEMES = st.sampled_from(["light", "dark"])
hexes = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [("#000", "#fff", 21.0), ("#777777", "white", 4.48), ("#ff0000", "#ffffff", 4.0), ("#123456", "#123456", 1.0)],
)
def test_contrast_as_the_guidelines_publish_it(a: str, b: str, ratio: float) -> None:
    assert colours.contrast(a, b) == colours.contrast(b, a) == pytest.approx(ratio, abs=0.005)


@given(colour=hexes, scheme=SCHEMES, least=st.sampled_from([3.0, 4.5]))
def test_what_is_not_nearly_white_becomes_legible(colour: str, scheme: str, least: float) -> None:
    if scheme == "dark" and colours.contrast(colour, "#fff") < 1.12:
        assert colours.readable(colour, scheme, least) == colours.GROUNDS["dark"]
    else:
        made = colours.readable(colour, scheme, least)
        assert colours.contrast(made, colours.GROUNDS[scheme]) >= least - 0.03  # eight bits a channel


@given(colour=hexes)
def test_a_colour_that_is_legible_on_white_stays(colour: str) -> None:
    if colours.contrast(colour, "#ffffff") >= 3:
        assert colours.readable(colour, "light", 3) == colour


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_lines_of_the_course_keep_their_hue(scheme: str) -> None:
    def hue(colour: str) -> float:
        return colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0]

    for slot in range(1, 7):
        before = style.look(slot).colour
        after = colours.readable(before, scheme, colours.MARK)
        assert colours.contrast(after, colours.GROUNDS[scheme]) >= 3 - 0.03
        assert hue(after) == pytest.approx(hue(before), abs=0.01)


LINES = sorted({style.look(slot).colour for slot in range(7)} | {style.GREY, *clusters._LABEL_COLOURS, clusters._MIXED})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", LINES)
def test_marks_of_the_course_stand_out_as_they_are_drawn(colour: str, scheme: str) -> None:
    drawn = colours.palette([{"data": [{"line": {"color": colour}}]}])[scheme]["marks"].get(colour, colour)
    assert colours.contrast(drawn, colours.GROUNDS[scheme]) >= 3 - 0.03
    if scheme == "light":
        assert drawn == colour  # on white nothing has to be mended


@pytest.mark.parametrize("eye", EYES)
def test_curves_on_a_dark_page_are_told_apart(eye: str) -> None:
    drawn = [colours.readable(style.look(slot).colour, "dark", colours.MARK) for slot in range(7)]
    for a, b in itertools.combinations(drawn, 2):
        assert apart(a, b, eye) >= 15, (a, b)


def test_explorers_have_the_same_on_the_dark_theme_of_jupyterlab() -> None:
    script = Path(chart.__file__).with_name("live.js").read_text(encoding="utf-8")
    turned = dict(re.findall(r'"(#\w{6})": "(#\w{6})"', script))
    lines = [*(style.look(slot).colour for slot in range(7)), style.GREY]
    drawn = [turned.get(colour.lower(), colour) for colour in lines]
    assert turned
    assert all(colours.contrast(colour, "#111111") >= 3 for colour in drawn)


def test_opacity_stays_and_unknown_colours_are_refused() -> None:
    assert re.fullmatch(r"rgba\(\d+,\d+,\d+,0\.15\)", colours.readable("rgba(0, 114, 178, .15)", "dark", 4.5))
    with pytest.raises(ValueError, match="colour 'tomato'"):
        colours.readable("tomato", "dark", 3)


def test_a_scale_is_turned_over() -> None:
    pale, middle, deep = (colours.mirrored(colour) for colour in ("#DCE9F5", "#4A90C2", "#08306B"))
    dark = colours.GROUNDS["dark"]
    assert 1.1 < colours.contrast(pale, dark) < colours.contrast(middle, dark) < colours.contrast(deep, dark)


def test_the_palette_knows_marks_texts_and_scales() -> None:
    spec = {
        "data": [{"line": {"color": "#E69F00"}, "colorscale": [[0, "#DCE9F5"], [1, "#08306B"]], "name": "#111111"}],
        "layout": {"paper_bgcolor": "white", "font": {"color": "#000000"}, "annotations": [{"bgcolor": "tomato"}]},
    }
    table = colours.palette([spec])
    assert "#111111" not in str(table)
    assert table["dark"]["marks"]["white"] == table["dark"]["ground"] == colours.GROUNDS["dark"]
    assert colours.contrast(table["dark"]["text"]["#000000"], colours.GROUNDS["dark"]) > 7
    assert colours.contrast(table["light"]["marks"]["#E69F00"], "white") == pytest.approx(3, abs=0.1)
    assert "#08306B" in table["dark"]["scales"]
    assert table["light"]["scales"] == {}


def test_styles_get_a_second_form_for_dark_pages() -> None:
    html = colours.inline('<b style="color: #006b4f; margin: 0">x #006b4f</b>')
    assert re.fullmatch(
        r'<b style="color: #006b4f;color: light-dark\(#006b4f, #[0-9a-f]{6}\); margin: 0">x #006b4f</b>', html
    )


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    css = Path(pages.TEMPLATE, "site.css").read_text(encoding="utf-8")
    assert re.findall(r"--ground: (#\w+);", css) == [colours.GROUNDS["light"], colours.GROUNDS["dark"]]
