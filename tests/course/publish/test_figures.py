"""What a browser makes of a figure on a page."""

from pathlib import Path

import plotly.graph_objects as go
import pytest
import torch

from fedlab_core import FederatedDataset, plots
from fedlab_core.data.dataset import Dataset, Split
from fedlab_course.explore import grid
from fedlab_course.explore.sliders import Slider
from tests.course.publish.visit import Visit, is_drawn, site_of, violations
from tests.sight import contrast

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
        page.wait_for_function(f"({LOOK})()[0] === '#15181c'")
        assert contrast(page.evaluate(LOOK)[1], "#15181c") > 7
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
        assert page.evaluate(LOOK)[0] == "#15181c"  # and back again


def test_on_paper_a_heat_map_is_drawn_with_vectors_in_its_colours(tmp_path: Path, chromium) -> None:
    split = Split(torch.zeros(6, 1), torch.tensor([0, 0, 0, 1, 1, 2]))
    figure = plots.partition(FederatedDataset(Dataset("small", split, split, 3), [[0, 1, 3], [2], [4, 5]]))
    shared = go.Figure(figure).update_traces(coloraxis="coloraxis", selector={"type": "heatmap"})
    shared.update_layout(coloraxis={"colorscale": [(0, "#DCE9F5"), (1, "#08306B")], "cmin": 1, "cmax": 2})
    with Visit(chromium, site_of(tmp_path, figure, shared), color_scheme="dark") as page:
        is_drawn(page, 2)
        images = "document.querySelectorAll('.heatmaplayer image').length"
        page.wait_for_function(f"{images} === 2")
        page.evaluate("""() => addEventListener('beforeprint', () => {
            window.cells = [...document.querySelectorAll('.vectors rect')].map((rect) => {
                const box = rect.getBoundingClientRect();
                return [rect.getAttribute('fill'), box.left + box.width / 2, box.top + box.height / 2, box.height];
            });
        })""")
        pdf = page.pdf(format="A4")
        assert pdf.count(b"/Subtype /Image") == 0
        cells = page.evaluate("window.cells")
        assert len(cells) == 10
        for drawn in (cells[:5], cells[5:]):
            # Clients 0, 1 and 2 hold labels (0, 0, 1), (0) and (1, 2): five cells, one of two samples.
            assert [cell[0] for cell in drawn].count("rgb(220,233,245)") == 4  # one, the lower end of the scale
            assert [cell[0] for cell in drawn].count("rgb(8,48,107)") == 1  # two, its upper end
            assert len({round(x) for _, x, _, _ in drawn}) == len({round(y) for _, _, y, _ in drawn}) == 3
            assert all(height > 10 for *_, height in drawn)
        page.wait_for_function(f"{images} === 2 && document.querySelectorAll('.vectors').length === 0")


def test_on_paper_folds_are_open(tmp_path: Path, chromium) -> None:
    text = "# Title\n\n<details><summary>What to expect</summary>\n\nA rise.\n\n</details>"
    with Visit(chromium, site_of(tmp_path, line(), text=text)) as page:
        is_drawn(page)
        page.evaluate("""() => addEventListener('beforeprint', () => {
            window.folds = [...document.querySelectorAll('details')].map((fold) => [fold.className, fold.open]);
        })""")
        page.pdf(format="A4")
        assert page.evaluate("window.folds") == [["", True], ["words", False]]  # in place of the words is the picture
        assert page.locator("main details[open]").count() == 0  # and closed again


SHOWN = "document.querySelector('.canvas')._fullData.map((trace) => trace.visible)"


def test_curves_are_shown_and_hidden_with_the_keyboard_and_stay_so(tmp_path: Path, chromium) -> None:
    pytest.importorskip("axe_playwright_python")

    def draw(p: int) -> go.Figure:
        figure = line(showlegend=True)
        figure.add_scatter(x=[1, 2, 3], y=[1, 2**p, 3**p], name=f"f<sub>{p}</sub>", legendgroup="power")
        return figure.add_scatter(x=[1, 3], y=[0, p], legendgroup="power", showlegend=False)

    page_of = site_of(tmp_path, grid.bundle(draw, {"p": Slider.over("power p", (1, 2, 3), 2, "tip")}), line())
    with Visit(chromium, page_of) as page:
        is_drawn(page, 2)
        assert page.locator(".curves").count() == 1  # a single curve needs no legend
        page.get_by_text("Show or hide curves").press("Enter")
        box = page.get_by_role("checkbox", name="f2")
        assert box.is_checked()
        box.press("Space")
        page.wait_for_function(f"JSON.stringify({SHOWN}) === JSON.stringify([true, 'legendonly', 'legendonly'])")
        page.get_by_label("power p").press("ArrowRight")
        page.get_by_role("checkbox", name="f3").wait_for()
        assert page.evaluate(SHOWN) == [True, "legendonly", "legendonly"]
        assert not page.get_by_role("checkbox", name="f3").is_checked()
        page.get_by_role("checkbox", name="f3").press("Space")
        page.wait_for_function(f"{SHOWN}[1] === true")
        page.locator(".legendtoggle").first.click()  # the legend of the picture does the same
        page.wait_for_function(f"{SHOWN}[0] === 'legendonly'")
        assert not page.get_by_role("checkbox", name="squares").is_checked()
        assert violations(page) == []
