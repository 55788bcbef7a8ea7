"""Colours on light and dark pages: the contrast of WCAG 2.2, and that as little changes as must."""

import colorsys
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedlab_core.plots import style
from fedlab_course.chapters.ch05_fedsso import figures as clusters
from fedlab_course.explore.live import SCRIPTS
from fedlab_course.publish import pages
from tests.sight import EYES, apart, contrast

pytestmark = pytest.mark.needs_browser
GROUNDS = {"light": "#ffffff", "dark": "#15181c"}
CURVES = [style.look(slot).colour for slot in range(7)]
MARKS = [*CURVES, style.GREY, *clusters._LABEL_COLOURS, clusters._MIXED]


@pytest.fixture(scope="module")
def page(chromium) -> Iterator[Any]:
    opened = chromium.new_page()
    opened.add_script_tag(path=SCRIPTS / "colours.js")
    yield opened
    opened.close()


def readable(page: Any, colours: list[str], scheme: str, least: float) -> list[str]:
    script = "([colours, ...how]) => colours.map((colour) => fedlabColours.readable(colour, ...how))"
    return page.evaluate(script, [colours, scheme, least])


@pytest.mark.parametrize("scheme", GROUNDS)
@pytest.mark.parametrize("least", [3.0, 4.5])
def test_what_is_not_nearly_white_becomes_legible_and_what_is_legible_stays(page, scheme: str, least: float) -> None:
    rng = random.Random(0)
    drawn = [f"#{rng.randrange(2**24):06x}" for _ in range(300)] + ["#ffffff", "#fefefe", "#000000", "#777777"]
    for colour, made in zip(drawn, readable(page, drawn, scheme, least), strict=True):
        if scheme == "dark" and contrast(colour, "#ffffff") < 1.12:
            assert made == GROUNDS["dark"]
        elif scheme == "light" and (contrast(colour, "#ffffff") < 1.4 or contrast(colour, "#ffffff") >= least):
            assert made == colour
        else:
            assert contrast(made, GROUNDS[scheme]) >= least - 0.03  # eight bits a channel


def test_marks_of_the_course_stand_out_keep_their_hue_and_do_not_change_on_white(page) -> None:
    assert readable(page, MARKS, "light", 3) == MARKS
    dark = readable(page, MARKS, "dark", 3)
    assert min(contrast(colour, ground) for colour in dark for ground in (GROUNDS["dark"], "#111111")) >= 3 - 0.03

    def hue(colour: str) -> float:
        return colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0]

    assert [hue(colour) for colour in dark[1:7]] == pytest.approx([hue(colour) for colour in CURVES[1:]], abs=0.01)
    for eye, (a, b) in itertools.product(EYES, itertools.combinations(dark[:7], 2)):
        assert apart(a, b, eye) >= 15, (eye, a, b)


def test_a_figure_is_turned_by_what_its_colours_are_for(page) -> None:
    spec = {
        "data": [{"line": {"color": "#E69F00"}, "colorscale": [[0, "#DCE9F5"], [1, "#08306B"]], "name": "#111111"}],
        "layout": {"paper_bgcolor": "white", "font": {"color": "#000000"}, "xaxis": {"gridcolor": "#E5E5E5"}},
    }
    spec["data"][0] |= {"fillcolor": "rgba(0, 114, 178, .15)", "marker": {"color": ["#000000", "tomato", 3]}}
    turn = "([spec, scheme]) => fedlabColours.turned(spec, scheme)"
    light, dark = (page.evaluate(turn, [spec, scheme]) for scheme in GROUNDS)
    trace = dark["data"][0]
    assert trace["name"] == "#111111" and trace["marker"]["color"][1:] == ["tomato", 3]
    assert dark["layout"]["paper_bgcolor"] == GROUNDS["dark"]
    assert contrast(dark["layout"]["font"]["color"], GROUNDS["dark"]) > 7
    assert contrast(light["data"][0]["line"]["color"], "#ffffff") == pytest.approx(3, abs=0.1)
    assert re.fullmatch(r"rgba\(\d+,\d+,\d+,0\.15\)", trace["fillcolor"])
    (_, pale), (_, deep) = trace["colorscale"]
    assert 1.1 < contrast(pale, GROUNDS["dark"]) < contrast(deep, GROUNDS["dark"])
    assert light["data"][0]["colorscale"] == [list(one) for one in spec["data"][0]["colorscale"]]


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    css = Path(pages.TEMPLATE, "site.css").read_text(encoding="utf-8")
    assert re.findall(r"--ground: light-dark\((#\w+), (#\w+)\);", css) == [tuple(GROUNDS.values())]
