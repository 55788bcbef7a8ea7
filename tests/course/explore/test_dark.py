"""Figures on dark pages, through the filter of the style sheets: contrast, and curves that stay
apart for all eyes.
"""

import itertools
import re
from math import cos, radians, sin

import numpy as np
import pytest

from fedlab_core.plots import colours, style
from fedlab_course.explore.live import SCRIPTS
from fedlab_course.publish import pages
from tests.sight import EYES, apart, contrast

CURVES = [style.look(slot).colour for slot in range(7)]
OTHERS = (*colours.GROUPS, *colours.SIDES, *colours.VERDICTS.values(), colours.GREY)
GREY = np.array([[0.213, 0.715, 0.072]] * 3)
TURN = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
SHEETS = (SCRIPTS / "live.css", pages.TEMPLATE / "site.css")


def filtered(colour: str, functions: list[tuple[str, float]]) -> str:
    """``colour`` after CSS filter functions (Filter Effects Module Level 1)."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    for name, value in functions:
        if name == "invert":
            rgb = rgb * (1 - 2 * value) + value
        elif name == "brightness":
            rgb = rgb * value
        elif name == "saturate":
            rgb = (GREY * (1 - value) + np.eye(3) * value) @ rgb
        else:
            rgb = (
                GREY + cos(radians(value)) * (np.eye(3) - GREY) + sin(radians(value)) * TURN
            ) @ rgb
        rgb = rgb.clip(0, 1)
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in rgb)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_figures_can_be_read_on_a_dark_page(sheet) -> None:
    (text,) = re.findall(r"filter: (invert.*);", sheet.read_text(encoding="utf-8"))
    functions = [
        (name, float(value)) for name, value in re.findall(r"([a-z-]+)\(([.\d]+)(?:deg)?\)", text)
    ]
    dark = {colour: filtered(colour, functions) for colour in (*CURVES, *OTHERS, "#ffffff")}
    ground = dark.pop("#ffffff")
    assert contrast(ground, "#15181c") < 1.1
    assert min(contrast(colour, ground) for colour in dark.values()) >= 3
    for eye, (a, b) in itertools.product(
        EYES, itertools.combinations([dark[colour] for colour in CURVES], 2)
    ):
        assert apart(a, b, eye) >= 15, (eye, a, b)
