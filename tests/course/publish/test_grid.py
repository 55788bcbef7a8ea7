"""Figures that are moved on a page without a kernel."""

from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from fedlab_core.history import History
from fedlab_core.plots import style
from fedlab_core.simulation import Diverged
from fedlab_course.chapters.ch02_fedprox import ideas
from fedlab_course.explore import view
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider
from tests.course.publish.visit import Visit, is_drawn, site_of, violations

pytestmark = pytest.mark.needs_browser
CURVES = (
    "[...document.querySelectorAll('.canvas')].map((canvas) => canvas._fullData.map((one) => "
    "Array.from(one.y)))"
)


def power(p: int, shift: float = 0.0) -> go.Figure:
    """x ↦ x^p + shift at 0, 1, 2, 3; no figure for p = 4."""
    if p == 4:
        raise ValueError("p=4: must be below 4")
    figure = style.new_figure(title=None, x_title="x", y_title="y")
    figure.add_scatter(x=np.arange(4), y=np.arange(4) ** p + shift, name=f"power {p}")
    style.set_description(
        figure, f"x to the power {p} plus {shift:g}", ["x", "y"], [[3, 3**p + shift]]
    )
    return figure


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    """A page with the figure of :func:`power` and one that stands still."""
    sliders = {
        "p": slider("power p", (1, 2, 3, 4), 2, "tip"),
        "shift": slider("shift", (0.0, 0.5), 0.0, "tip"),
    }
    return site_of(tmp_path, Idea(power, sliders).bundle(), power(1, 7.0))


def wait_for(page: Any, values: list[float]) -> None:
    page.wait_for_function(
        f"(values) => JSON.stringify({CURVES}[0][0]) === JSON.stringify(values)", arg=values
    )


def test_sliders_move_the_figure_with_its_words_and_its_table(moving: Path, chromium) -> None:
    assert "stored pictures" not in moving.read_text(encoding="utf-8")
    visit = Visit(chromium, moving)
    with visit as page:
        is_drawn(page, 2)
        wait_for(page, [0, 1, 4, 9])
        page.get_by_label("power p").press("ArrowRight")
        wait_for(page, [0, 1, 8, 27])
        page.get_by_label("shift").press("End")
        wait_for(page, [0.5, 1.5, 8.5, 27.5])
        assert page.get_by_label("power p").get_attribute("aria-valuetext") == "3"
        assert page.get_by_role("img", name="x to the power 3 plus 0.5").count() == 1
        page.locator("summary:has-text('Description')").first.click()
        assert page.locator("figure.plot").first.locator(".table").first.inner_text().split() == [
            "x",
            "y",
            "3",
            "27.5",
        ]
        assert page.evaluate(CURVES)[1] == [[7, 8, 9, 10]]
        page.get_by_label("power p").press("End")
        page.get_by_text("p=4: must be below 4").wait_for()
        assert page.evaluate(CURVES)[0] == [[0.5, 1.5, 8.5, 27.5]]
        page.get_by_label("power p").press("Home")
        wait_for(page, [0.5, 1.5, 2.5, 3.5])
        assert page.get_by_text("p=4: must be below 4").count() == 0
        assert visit.is_clean()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_on_a_page_with_a_moving_figure_and_on_the_start_page(
    moving: Path, chromium, scheme: str, width: int
) -> None:
    pytest.importorskip("axe_playwright_python")
    visit = Visit(chromium, moving, width, color_scheme=scheme)
    with visit as page:
        is_drawn(page, 2)
        assert visit.is_clean()
        assert violations(page) == []
        page.goto(moving.with_name("index.html").as_uri())
        show, words = (
            page.locator(part).bounding_box()["y"] for part in ("iframe.playground", ".cards")
        )
        assert show < words
        assert violations(page) == []


@pytest.mark.parametrize("width", [360, 390])
def test_what_is_written_around_a_chart_fits_a_telephone(
    tmp_path: Path, chromium, width: int
) -> None:
    figure = view.empty()
    view.mark_ends(
        figure,
        {name: Diverged(name, 12, None, 0.05, History({})) for name in ("FedAvg", "FedProx μ=0.3")},
    )
    with Visit(chromium, site_of(tmp_path, figure), width) as page:
        is_drawn(page)
        words, canvas, summary, tools = (
            page.locator(part).bounding_box()
            for part in (".annotation-text", ".canvas", ".words > summary", ".tools")
        )
    assert (
        canvas["x"] <= words["x"] and words["x"] + words["width"] <= canvas["x"] + canvas["width"]
    )
    assert words["y"] >= canvas["y"]
    assert summary["x"] + summary["width"] <= tools["x"]


@pytest.mark.parametrize("width", [1366, 900, 768, 641, 390])
def test_the_start_page_shows_the_whole_chart_of_the_playground(
    moving: Path, chromium, width: int
) -> None:
    with Visit(chromium, moving.with_name("index.html"), width, 768) as page:
        chart = page.frame_locator("iframe.playground").locator(".charts")
        chart.wait_for()
        bottom, inside = chart.evaluate(
            "chart => [chart.getBoundingClientRect().bottom, innerHeight]"
        )
        assert 0 < bottom < inside


def test_every_position_of_an_idea_of_the_course_is_drawn(tmp_path: Path, chromium) -> None:
    idea = ideas.at_best()
    with Visit(chromium, site_of(tmp_path, idea.bundle()), color_scheme="dark") as page:
        is_drawn(page)
        slider = page.get_by_role("slider")
        slider.press("Home")
        for name, value in idea.sliders["split"].options:
            alt = idea.figure(split=value).layout.meta["alt"]
            assert slider.get_attribute("aria-valuetext") == name
            page.wait_for_function(
                "(alt) => document.querySelector('.canvas').ariaLabel === alt", arg=alt
            )
            slider.press("ArrowRight")
