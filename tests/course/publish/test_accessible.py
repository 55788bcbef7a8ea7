"""Pages under axe, and what it cannot see: stops of the Tab key, pages without scripts."""

from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

from fedlab_core.plots import style
from fedlab_course.check.claims import VERDICT
from tests.course.planted import Run
from tests.course.publish.visit import Visit, is_drawn, site_of, violations

pytest.importorskip("axe_playwright_python")
pytestmark = pytest.mark.needs_browser
TEXT = "# Title\n\nA [link](https://example.org).\n\n## One\n\n> Predict.\n\n### Two\n\n```python\nx = 1\n```\n"


def described() -> go.Figure:
    figure = style.new_figure(title="Title", x_title="x", y_title="y")
    figure.add_scatter(x=[1, 2], y=[3, 4], name="a line")
    style.set_description(figure, "A line that rises", ["", "y"], [["start", 3], ["end", 4]])
    return figure


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with text, code, a figure, a table of pandas and a verdict in the colours of the course."""
    table = pd.DataFrame({"label": [1, 2], "n": [3, 4]}).groupby("label").mean()
    verdict = '<div style="border-left: 4px solid #a33c00"><strong>✗ no</strong></div>'
    below = '<div style="color: #555; background: #fdf3f2">0.3 measured</div>'
    shown = [{"text/html": table.to_html()}, {"text/html": verdict, VERDICT: {}}, {"text/html": below}]
    folder = tmp_path_factory.mktemp("page")
    return site_of(folder, described(), *shown, text=TEXT)


@pytest.mark.parametrize(("name", "scheme"), [("index", "light"), ("symbols", "dark"), ("00_good", "dark")])
def test_axe_finds_nothing_on_the_pages_of_a_run(good: Run, chromium, name: str, scheme: str) -> None:
    with Visit(chromium, good.out / "site" / f"{name}.html", color_scheme=scheme) as page:
        assert violations(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 390), ("light", 1280)])
def test_axe_finds_nothing_on_a_page_of_all_kinds(page: Path, chromium, scheme: str, width: int) -> None:
    with Visit(chromium, page, width, color_scheme=scheme) as shown:
        is_drawn(shown)
        shown.click("text=Description and data")
        shown.click("text=All points")
        assert violations(shown) == []


def test_every_stop_of_the_tab_key_can_be_seen(page: Path, chromium) -> None:
    with Visit(chromium, page) as shown:
        is_drawn(shown)
        names = []
        for _ in range(40):
            shown.keyboard.press("Tab")
            stop = shown.evaluate("""() => {
                const element = document.activeElement;
                const box = element.getBoundingClientRect();
                const seen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
                const inside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
                return [element.tagName, element.textContent.trim().slice(0, 30), seen && inside && box.width > 0];
            }""")
            if stop[0] == "BODY":
                break
            names.append(stop[1])
            assert stop[2], stop
        assert {"Skip to content", "#", "Reset view", "Description and data"} <= set(names)


def test_without_scripts_a_page_says_so_and_shows_words_and_tables(page: Path, chromium) -> None:
    with Visit(chromium, page, java_script_enabled=False) as shown:
        assert "allow scripts for this page" in shown.locator("noscript").first.inner_text()
        figure = shown.locator("figure.plot")
        assert figure.locator("noscript p").inner_text() == "A line that rises"
        rows = figure.locator("noscript tr").all_inner_texts()
        assert [row.split() for row in rows] == [["y"], ["start", "3"], ["end", "4"]]
        assert figure.locator(".canvas").is_hidden()


def test_without_plotly_a_figure_says_so_and_shows_its_words(page: Path, chromium) -> None:
    with Visit(chromium, page) as shown:
        shown.route("**/plotly.min.js", lambda route: route.abort())
        shown.reload()
        figure = shown.locator("figure.plot")
        assert figure.get_by_text("The chart did not load").is_visible()
        assert figure.get_by_text("A line that rises").is_visible()


def test_on_a_telephone_a_number_keeps_its_spread_beside_it(tmp_path: Path, chromium) -> None:
    table = pd.DataFrame({f"{name} server updates": ["0.905 ± 0.065"] for name in ("30", "60", "90")})
    with Visit(chromium, site_of(tmp_path, {"text/html": table.to_html()}), 390) as shown:
        heights = shown.locator("table.dataframe tbody td").evaluate_all(
            "cells => cells.map((cell) => cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight))"
        )
        assert max(heights) < 2
        assert shown.locator(".html").get_attribute("tabindex") == "0"  # what is too wide scrolls, with keys as well
        assert shown.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
