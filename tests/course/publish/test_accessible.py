"""Pages under axe, and what it cannot see: stops of the Tab key, pages without scripts."""

from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

from fedlab_core.plots import style
from fedlab_course.check.claims import VERDICT
from tests.course.harness.planted import Run
from tests.course.publish.visit import Visit, is_drawn, site_of, violations

pytest.importorskip("axe_playwright_python")
pytestmark = pytest.mark.needs_browser
TEXT = (
    "# Title\n\nA [link](https://example.org).\n\n## One\n\n> Predict.\n\n### Two\n\n"
    "```python\nx = 1\n```\n"
)


def described() -> go.Figure:
    figure = style.new_figure(title="Title", x_title="x", y_title="y")
    figure.add_scatter(x=[1, 2], y=[3, 4], name="a line")
    style.set_description(figure, "A line that rises", ["", "y"], [["start", 3], ["end", 4]])
    return figure


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with text, code, a figure, a table of pandas and a verdict in the colours of the
    course.
    """
    table = pd.DataFrame({"label": [1, 2], "n": [3, 4]}).groupby("label").mean()
    wide = pd.DataFrame(
        {f"{name} server updates": ["0.905 ± 0.065"] for name in ("30", "60", "90")}
    )
    verdict = '<div style="border-left: 4px solid #a33c00"><strong>✗ no</strong></div>'
    shown = [
        {"text/html": table.to_html()},
        {"text/html": verdict, VERDICT: {}},
        {"text/html": wide.to_html()},
    ]
    return site_of(tmp_path_factory.mktemp("page"), described(), *shown, text=TEXT)


def test_axe_finds_nothing_on_the_pages_of_a_run(good: Run, chromium) -> None:
    for name, scheme in (
        ("index", "light"),
        ("symbols", "dark"),
        ("00_good", "dark"),
        ("evidence", "light"),
    ):
        with Visit(chromium, good.out / "site" / f"{name}.html", color_scheme=scheme) as page:
            assert violations(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("dark", 390), ("light", 1280)])
def test_axe_finds_nothing_on_a_page_of_all_kinds(
    page: Path, chromium, scheme: str, width: int
) -> None:
    visit = Visit(chromium, page, width, color_scheme=scheme)
    with visit as shown:
        is_drawn(shown)
        shown.click("text=Description and data")
        assert visit.is_clean()
        assert violations(shown) == []
        heights = shown.locator("table.dataframe tbody td").evaluate_all(
            "cells => cells.map((cell) => cell.clientHeight / "
            "parseFloat(getComputedStyle(cell).lineHeight))"
        )
        assert max(heights) < 2  # a number keeps its spread beside it
        if width == 390:  # what is too wide scrolls, with keys as well
            assert shown.locator(".html").last.get_attribute("tabindex") == "0"


def test_every_stop_of_the_tab_key_can_be_seen(page: Path, chromium) -> None:
    with Visit(chromium, page) as shown:
        is_drawn(shown)
        names = []
        for _ in range(40):
            shown.keyboard.press("Tab")
            stop = shown.evaluate("""() => {
                const element = document.activeElement;
                const box = element.getBoundingClientRect();
                const asked = { opacityProperty: true, visibilityProperty: true };
                const across = box.right > 0 && box.left < innerWidth;
                const inside = across && box.bottom > 0 && box.top < innerHeight;
                const seen = element.checkVisibility(asked) && inside && box.width > 0;
                return [element.tagName, element.textContent.trim().slice(0, 30), seen];
            }""")
            if stop[0] == "BODY":
                break
            names.append(stop[1])
            assert stop[2], stop
        assert {"Skip to content", "#", "Reset view", "Description and data"} <= set(names)


def test_the_data_of_a_figure_are_not_cut(tmp_path: Path, chromium) -> None:
    figure = described()
    style.set_description(figure, "Many rows", ["x", "y"], [[x, x] for x in range(60)])
    with Visit(chromium, site_of(tmp_path, figure, text=TEXT)) as shown:
        shown.click("text=Description and data")
        box = shown.locator("figure.plot .table")
        assert box.locator("tr").count() == 61
        assert box.evaluate("one => one.scrollHeight - one.clientHeight") <= 1


def test_without_scripts_or_plotly_a_page_says_so_and_has_words_and_tables(
    page: Path, chromium
) -> None:
    with Visit(chromium, page, java_script_enabled=False) as shown:
        assert "Allow scripts for this page" in shown.locator("noscript").first.inner_text()
        figure = shown.locator("figure.plot")
        assert figure.locator(".canvas").is_hidden()
        figure.locator("summary").click()
        assert figure.locator("details p").inner_text() == "A line that rises"
        rows = figure.locator("tr").all_inner_texts()
        assert [row.split() for row in rows] == [["y"], ["start", "3"], ["end", "4"]]
    with Visit(chromium, page) as shown:
        shown.route("**/plotly.min.js", lambda route: route.abort())
        shown.reload()
        assert shown.get_by_text("The chart did not load").is_visible()
        assert shown.get_by_text("A line that rises").is_visible()
