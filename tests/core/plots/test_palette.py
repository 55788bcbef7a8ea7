"""The colours of curves: seen on their ground, and told apart, by readers who do not see all
colours too.
"""

import re
from itertools import combinations, product
from pathlib import Path

import pytest

from fedlab_core.plots import colours, style
from tests.sight import EYES, apart, contrast

COLOURS = [style.look(slot).colour for slot in range(7)]
OTHERS = [*colours.GROUPS, *colours.SIDES, *colours.VERDICTS.values(), colours.WARNING]
DARK = "#15181c"  # the ground of a dark page


@pytest.mark.parametrize("colour", [*COLOURS, *OTHERS, colours.GREY])
def test_a_curve_stands_out_from_white(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 3  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize("eye", EYES)
def test_two_curves_differ_for_every_eye(eye: str) -> None:
    for a, b in combinations(COLOURS, 2):
        assert apart(a, b, eye) >= 15, (a, b)


def test_a_colour_with_an_opacity() -> None:
    """By hand: 0xD5 = 213, 0x5E = 94, 0x00 = 0."""
    assert colours.rgba("#D55E00", 0.15) == "rgba(213,94,0,0.15)"


def test_no_meaning_rests_on_colour_alone() -> None:
    for a, b in combinations([style.look(slot) for slot in range(7)], 2):
        assert a.dash != b.dash
        assert a.marker != b.marker


def test_a_methods_colour_is_nobody_elses() -> None:
    assert len(set(colours.METHODS.values())) == len(colours.METHODS)
    for method, other in product(colours.METHODS.values(), OTHERS):
        assert apart(method, other, "usual") >= 20, (method, other)


def test_clients_labels_sides_and_verdicts_differ_from_each_other() -> None:
    for a, b in combinations(colours.GROUPS, 2):
        assert apart(a, b, "usual") >= 15, (a, b)
    verdicts = [colours.VERDICTS[word] for word in ("good", "mixed", "open")]
    for eye in EYES:
        assert apart(*colours.SIDES, eye) >= 15
        for a, b in combinations(verdicts, 2):
            assert apart(a, b, eye) >= 15, (a, b, eye)


@pytest.mark.parametrize("colour", OTHERS)
def test_what_pages_draw_without_a_filter_stands_out_from_a_dark_ground(colour: str) -> None:
    assert contrast(colour, DARK) >= 3


def method_look(name: str) -> style.Look:
    slot = style.known_slot(name)
    assert slot is not None
    return style.look(slot)


def test_relatives_share_a_hue_and_no_look() -> None:
    for name, relative in colours.RELATIVES.items():
        one = method_look(name)
        assert one.colour == method_look(relative).colour
    known = [method_look(name) for name in (*colours.METHODS, *colours.RELATIVES)]
    assert len({(one.colour, one.dash) for one in known}) == len(known)
    assert len({(one.colour, one.marker) for one in known}) == len(known)
    groups = [style.group_look(number) for number in range(70)]
    assert len({(one.colour, one.dash) for one in groups}) == 70
    assert style.known_slot("FedNobody") is None


def test_a_series_that_is_no_method_takes_no_colour_of_a_method() -> None:
    names = {"FedProx": "FedProx", "blind": "blind", "FedProx μ=1": "FedProx μ=1", "B": "B"}
    found = style.looks(names)
    assert found["FedProx"].colour == colours.METHODS["fedprox"]
    rest = {found[name].colour for name in ("blind", "FedProx μ=1", "B")}
    assert len(rest) == 3 and not rest & set(colours.METHODS.values())


def test_a_colour_is_written_in_the_table_alone() -> None:
    """Cards are drawings with colours of their own."""
    hexed = re.compile(r"(?<![&\w])#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|rgba?\(\d|hsla?\(\d")
    root = Path(style.__file__).parents[2]
    found = {}
    for path in (*root.glob("fedlab_core/**/*"), *root.glob("fedlab_course/**/*")):
        if path.suffix not in {".py", ".js", ".css", ".j2", ".jinja2", ".toml"}:
            continue
        if path.name != "colours.py" and (written := hexed.findall(path.read_text("utf-8"))):
            found[path.relative_to(root).as_posix()] = written
    assert found == {}


@pytest.mark.parametrize("name", colours.COMPETITORS)
def test_a_competitor_has_one_look_in_every_company(name: str) -> None:
    alone = style.looks({name: name})[name]
    among = style.looks({one: one for one in ("another", "FedAvg", name, "a third")})
    assert among[name] == alone
    assert list(among.values()).count(alone) == 1
