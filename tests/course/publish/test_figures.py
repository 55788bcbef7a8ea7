"""What a browser makes of a figure on a page."""

from pathlib import Path

import plotly.graph_objects as go
import pytest

from tests.course.publish.visit import Visit, is_drawn, site_of

pytestmark = pytest.mark.needs_browser
LOOK = """() => {
    const canvas = document.querySelector('.canvas');
    return [canvas._fullLayout.paper_bgcolor, getComputedStyle(canvas).filter !== 'none'];
}"""


def line(**layout) -> go.Figure:
    """A black line from (1, 1) to (3, 9)."""
    figure = go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 4, 9], name="squares", line_color="#000000"))
    return figure.update_layout(paper_bgcolor="white", **layout)


def test_a_figure_asks_no_server_goes_back_after_a_zoom_and_can_be_saved(
    tmp_path: Path, chromium
) -> None:
    figure = line(modebar={"add": ["sendChartToCloud"]})
    figure.update_xaxes(range=[0, 4])
    visit = Visit(chromium, site_of(tmp_path, figure))
    with visit as page:
        is_drawn(page)
        page.locator("figure.plot").hover()
        assert page.locator(".modebar-btn").count() == page.get_by_text("Share").count() == 0
        context = page.evaluate("document.querySelector('.canvas')._context")
        assert (context["showSendToCloud"], context["plotlyServerURL"]) == (False, "")
        ranges = (
            "['xaxis', 'yaxis'].map((axis) => "
            "Array.from(document.querySelector('.canvas')._fullLayout[axis].range))"
        )
        before = page.evaluate(ranges)
        assert before[0] == [0, 4]
        zoom = "{'xaxis.range': [1, 2], 'yaxis.range': [2, 3]}"
        page.evaluate(f"Plotly.relayout(document.querySelector('.canvas'), {zoom})")
        assert page.evaluate(ranges) == [[1, 2], [2, 3]]
        page.get_by_role("button", name="Reset view").press("Enter")
        assert page.evaluate(ranges) == before
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as SVG").click()
        assert "<svg" in Path(download.value.path()).read_text()
        page.set_viewport_size({"width": 667, "height": 467})
        page.wait_for_function("document.querySelector('.canvas')._fullLayout.width < 640")
        assert visit.is_clean()


def test_figures_follow_the_scheme_of_the_page_and_are_light_on_paper(
    tmp_path: Path, chromium
) -> None:
    text = "# Title\n\n<details><summary>What to expect</summary>\n\nA rise.\n\n</details>"
    with Visit(
        chromium, site_of(tmp_path, line(height=700), text=text), color_scheme="light"
    ) as page:
        is_drawn(page)
        assert page.evaluate(LOOK) == ["white", False]
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(LOOK) == ["white", True]
        page.evaluate("""() => addEventListener('beforeprint', () => {
            const canvas = document.querySelector('.canvas');
            const { width, height } = canvas.querySelector('.main-svg').getBoundingClientRect();
            window.printed = [canvas._fullLayout.paper_bgcolor, width, height];
        })""")
        assert len(page.pdf(format="A4")) < 100_000
        ground, width, height = page.evaluate("window.printed")
        assert ground == "white"
        assert width <= 210 / 25.4 * 96 - 2 * 15 / 25.4 * 96  # A4 between the margins
        assert height < 500
        assert page.evaluate(LOOK) == ["white", True]  # and back again
        fold = "document.querySelector('.text details p').checkVisibility()"
        assert not page.evaluate(fold)
        page.emulate_media(media="print")
        assert not page.evaluate(fold)  # solutions stay folded on paper
        assert page.evaluate(LOOK) == ["white", False]


def test_a_curve_that_a_reader_has_hidden_stays_so(tmp_path: Path, chromium) -> None:
    figure = line(showlegend=True)
    figure.add_scatter(x=[1, 3], y=[1, 3], name="line")
    shown = "document.querySelector('.canvas')._fullData.map((trace) => trace.visible)"
    with Visit(chromium, site_of(tmp_path, figure), color_scheme="light") as page:
        is_drawn(page)
        page.locator(".legendtoggle").first.click()
        page.wait_for_function(f"{shown}[0] === 'legendonly'")
        page.pdf()  # which draws the figure twice
        assert page.evaluate(shown) == ["legendonly", True]
