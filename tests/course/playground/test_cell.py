"""The playground in a cell: it follows JupyterLab's theme, has the height of what it shows, and
comes into view.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fedlab_course import playground
from tests.course.playground.opening import IS_DONE

pytestmark = pytest.mark.needs_browser

DARK = "rgb(21, 24, 28)"
LIGHT = "rgb(255, 255, 255)"
GROUND = "() => getComputedStyle(document.body).backgroundColor"


@contextmanager
def cell(
    chromium: Any, shown: playground.Playground, body: str = "", above: int = 0, width: int = 1100
) -> Iterator[Any]:
    """A page with a frame in a scrolling notebook, ``above`` pixels below its top."""
    page = chromium.new_page(viewport={"width": width, "height": 768})
    frame = shown._repr_mimebundle_()["text/html"]
    notebook = "<div id='notebook' style='height: 700px; overflow: auto'>"
    spaces = [f"<div style='height: {high}px'></div>" for high in (above, 2000)]
    page.set_content(
        f"<body {body} style='margin: 0'>{notebook}{spaces[0]}{frame}{spaces[1]}</div></body>"
    )
    page.frames[1].wait_for_function(IS_DONE.format(1))
    yield page
    page.close()


def test_a_cell_shows_the_whole_page(chromium: Any) -> None:
    with cell(chromium, playground.Playground(state="data=moons&two=0", small=True)) as page:
        frame = page.frames[1]
        frame.click("#round")
        frame.wait_for_function(IS_DONE.format(2))
        assert frame.evaluate("state.data") == "moons"
        assert not frame.is_visible("#share") and not frame.is_visible(".whole")


def test_it_follows_the_theme_of_jupyterlab(chromium: Any) -> None:
    with cell(chromium, playground.Playground(), "data-jp-theme-light='false'") as page:
        frame = page.frames[1]
        assert frame.evaluate(GROUND) == DARK
        for theme, ground in (("true", LIGHT), ("false", DARK)):
            page.evaluate("(theme) => { document.body.dataset.jpThemeLight = theme; }", theme)
            frame.wait_for_function(f"() => ({GROUND})() === '{ground}'")


def test_outside_jupyterlab_it_follows_the_system(chromium: Any) -> None:
    with cell(chromium, playground.Playground(small=True)) as page:
        assert page.frames[1].evaluate(GROUND) == LIGHT
        page.emulate_media(color_scheme="dark")
        page.frames[1].wait_for_function(f"() => ({GROUND})() === '{DARK}'")


@pytest.mark.parametrize("width", [420, 768, 1100])
@pytest.mark.parametrize("small", [False, True])
def test_a_cell_is_as_high_as_what_it_shows(chromium: Any, width: int, small: bool) -> None:
    with cell(chromium, playground.Playground(small=small), width=width) as page:
        inside = "() => document.documentElement.scrollHeight - innerHeight"
        page.frames[1].wait_for_function(f"() => ({inside})() === 0")
        assert page.frames[1].evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_pictures_are_on_the_screen_after_shift_enter(chromium: Any) -> None:
    edges = (
        "() => { const { top, bottom } = find('.picture').getBoundingClientRect(); return "
        "[top, bottom]; }"
    )
    with cell(
        chromium, playground.Playground(small=True), "data-jp-theme-light='true'", above=600
    ) as page:
        page.wait_for_function("() => document.querySelector('#notebook').scrollTop > 0")
        top = page.locator("iframe").bounding_box()["y"]
        picture = page.frames[1].evaluate(edges)
        assert top + picture[0] >= 0 and top + picture[1] <= 700


@pytest.mark.parametrize(("body", "above"), [("", 600), ("data-jp-theme-light='true'", 1500)])
def test_a_page_does_not_scroll_by_itself(chromium: Any, body: str, above: int) -> None:
    """Not a page of the course, and not a notebook that is opened somewhere else."""
    with cell(chromium, playground.Playground(small=True), body, above) as page:
        page.wait_for_timeout(300)
        assert page.evaluate("document.querySelector('#notebook').scrollTop") == 0


@pytest.mark.parametrize("small", [False, True])
def test_at_768_pixels_the_controls_come_before_the_chart(chromium: Any, small: bool) -> None:
    with cell(chromium, playground.Playground(small=small), width=768) as page:
        tops = "() => ['#data', '#chart-1'].map((one) => find(one).getBoundingClientRect().top)"
        controls, chart = page.frames[1].evaluate(tops)
        assert controls < chart
