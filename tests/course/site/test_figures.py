"""What a browser makes of a figure on a page."""

from pathlib import Path

import plotly.graph_objects as go
import pytest

from fedlab_course.site import colours
from tests.course.site.visit import Visit, is_drawn, site_of

pytestmark = pytest.mark.needs_browser


def line(**layout) -> go.Figure:
    """A line from (1, 1) to (3, 9)."""
    return go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 4, 9], name="squares"), layout=layout)


def test_no_figure_offers_to_send_anything_anywhere(tmp_path: Path, chromium) -> None:
    asking = line(modebar={"add": ["sendChartToCloud"]})
    visit = Visit(chromium, site_of(tmp_path, line(), asking))
    with visit as page:
        is_drawn(page, 2)
        for figure in page.locator("figure.plot").all():
            figure.hover()
            assert figure.locator(".modebar-btn").count() == 0
        assert page.get_by_text("Share").count() == page.get_by_label("Share").count() == 0
        contexts = page.evaluate("[...document.querySelectorAll('.canvas')].map((canvas) => canvas._context)")
        assert [(one["showSendToCloud"], one["plotlyServerURL"]) for one in contexts] == [(False, "")] * 2
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []


def test_a_zoomed_figure_goes_back_and_a_picture_can_be_saved(tmp_path: Path, chromium) -> None:
    figure = line()
    figure.update_xaxes(range=[0, 4])
    with Visit(chromium, site_of(tmp_path, figure)) as page:
        is_drawn(page)
        ranges = (
            "['xaxis', 'yaxis'].map((axis) => Array.from(document.querySelector('.canvas')._fullLayout[axis].range))"
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


def patterned() -> go.Figure:
    """Forty bars with a pattern, and a black line."""
    marker = {"color": "#D55E00", "pattern": {"shape": "/"}}
    figure = go.Figure(go.Bar(x=list(range(40)), y=list(range(1, 41)), marker=marker, name="bars"))
    figure.add_scatter(x=[0, 39], y=[40, 0], line_color="#000000", name="line")
    return figure.update_layout(paper_bgcolor="white", plot_bgcolor="white", height=700)


LOOK = """() => {
    const { _fullLayout: layout, _fullData: data } = document.querySelector('.canvas');
    return [layout.paper_bgcolor, data[1].line.color];
}"""


def test_figures_follow_the_scheme_of_the_page_while_it_changes(tmp_path: Path, chromium) -> None:
    with Visit(chromium, site_of(tmp_path, patterned()), color_scheme="light") as page:
        is_drawn(page)
        assert page.evaluate(LOOK) == ["white", "#000000"]
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"({LOOK})()[0] === '{colours.GROUNDS['dark']}'")
        assert colours.contrast(page.evaluate(LOOK)[1], colours.GROUNDS["dark"]) > 7
        page.emulate_media(color_scheme="light")
        page.wait_for_function(f"({LOOK})()[0] === 'white'")


def test_on_paper_a_figure_is_light_fits_and_holds_no_pictures(tmp_path: Path, chromium) -> None:
    with Visit(chromium, site_of(tmp_path, patterned()), color_scheme="dark") as page:
        is_drawn(page)
        page.evaluate("""() => addEventListener('beforeprint', () => {
            const canvas = document.querySelector('.canvas');
            const { width, height } = canvas.querySelector('.main-svg').getBoundingClientRect();
            window.printed = [canvas._fullLayout.paper_bgcolor, width, height];
        })""")
        pdf = page.pdf(format="A4")
        ground, width, height = page.evaluate("window.printed")
        assert ground == "white"
        assert width <= 210 / 25.4 * 96 - 2 * 15 / 25.4 * 96  # A4 between the margins
        assert height < 500
        assert pdf.count(b"/Subtype /Image") == 0
        assert len(pdf) < 100_000
        assert page.evaluate(LOOK)[0] == colours.GROUNDS["dark"]  # and back again
