"""Drawn without a browser, a figure has the axes that Plotly gives it in one."""

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.core.write.pictured import FIGURES

pytest.importorskip("matplotlib", reason="the extra figures is not installed")

from fedlab_core.write.drawing import laid_out, settings

pytestmark = pytest.mark.needs_browser

READ = """async figure => {
    const div = document.getElementById('figure');
    await Plotly.newPlot(div, figure.data, figure.layout);
    const layout = div._fullLayout;
    const axes = Object.keys(layout).filter(name => /^[xy]axis[0-9]*$/.test(name));
    const of = name => ({range: layout[name].range, ticks: layout[name]._vals.map(one => one.text)});
    return Object.fromEntries(axes.map(name => [name, of(name)]));
}"""


@pytest.fixture(scope="module")
def page(chromium):
    page = chromium.new_page(viewport={"width": 720, "height": 640})
    page.set_content(go.Figure().to_html(include_plotlyjs=True, full_html=True, div_id="figure"))
    page.wait_for_selector(".main-svg")
    yield page
    page.close()


@pytest.mark.parametrize("name", FIGURES)
def test_ranges_and_tick_labels_are_those_of_plotly(name: str, page) -> None:
    figure = FIGURES[name]()
    width, height = figure.layout.width or 700, figure.layout.height or 450
    figure.update_layout(width=width, height=height)
    shown = page.evaluate(READ, json.loads(figure.to_json()))
    with settings("DejaVu Sans"):
        drawn = laid_out(figure.to_plotly_json(), width, height)
    axes = drawn.axes.values()
    assert {axis.name[0] + "axis" + axis.name[1:] for axis in axes} == set(shown)
    for axis in axes:
        theirs = shown[axis.name[0] + "axis" + axis.name[1:]]
        # Margins differ by the pixels that letters take, and with them what a range leaves free beyond its points.
        np.testing.assert_allclose(axis.ends, theirs["range"], atol=0.02 * abs(np.subtract(*axis.ends)))
        if axis.part("visible", True):
            ours = [plain(tick.text) for tick in axis.ticks(axis.part("tickfont.size", drawn.font_size))]
            ours = ours[::-1] if axis.ends[0] > axis.ends[1] else ours
            assert ours == [plain(text) for text in theirs["ticks"]]


def plain(text: str) -> str:
    return re.sub(r"<[^>]*>", "", str(text)).strip()
