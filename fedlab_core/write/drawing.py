"""A Plotly figure drawn by matplotlib."""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure

from fedlab_core.write.keys import draw_colour_bars, draw_legend
from fedlab_core.write.notes import draw_annotations, draw_shapes, draw_title, reach_shapes
from fedlab_core.write.page import Page
from fedlab_core.write.rulers import Ruler
from fedlab_core.write.translated import check

_EDGE = 4.0  # that stays free around everything
_PASSES = 4  # margins depend on labels, and these on how long the axes are


def settings(font: str) -> AbstractContextManager[None]:
    """What holds while a figure is drawn and written, whatever the user's own settings of matplotlib are.

    Raises ``ValueError`` for a font that is not installed.
    """
    if font not in font_manager.get_font_names():
        raise ValueError(f"font={font!r}: is not installed; DejaVu Sans comes with matplotlib")
    own: dict[str, Any] = {"font.family": [font], "mathtext.default": "regular", "lines.scale_dashes": False}
    own |= {"svg.fonttype": "path", "svg.hashsalt": "fedlab_core", "pdf.fonttype": 42, "hatch.linewidth": 2.0}
    default = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    held: AbstractContextManager[None] = matplotlib.rc_context({**default, **own})
    return held


def draw(figure: dict[str, Any], width: float, height: float) -> Figure:
    """A figure, {"data", "layout"} as ``to_plotly_json`` gives it, as one of matplotlib's with 72 dots an inch.

    It is drawn and written under :func:`settings`. Raises ``ValueError`` that names the first thing in it that this
    drawing does not follow.
    """
    page = laid_out(figure, width, height)
    for trace in page.traces:
        trace.draw(page.panels[trace.x_axis.name, trace.y_axis.name])
    for (x, y), panel in page.panels.items():  # some of matplotlib's artists move the limits
        panel.set_xlim(*page.axes[x].ends)
        panel.set_ylim(*page.axes[y].ends)
    return page.canvas


def laid_out(figure: dict[str, Any], width: float, height: float) -> Page:
    """The page with everything on it but the traces. Raises as :func:`draw`."""
    check(figure)
    margins: dict[str, float] = {}
    for _ in range(_PASSES):
        page = Page(figure, width, height)
        page.margins |= margins
        needed = _decorate(page)
        if all(abs(page.margins[side] - size) < 0.5 for side, size in needed.items()):
            break
        margins = needed
    return page


def _decorate(page: Page) -> dict[str, float]:
    """Everything but the traces. Returns the margins that it needs."""
    reach_shapes(page)
    page.settle()
    boxes = [Ruler(page, axis).draw() for axis in page.axes.values()]
    bars = draw_colour_bars(page)
    legend = draw_legend(page)
    draw_shapes(page)
    draw_annotations(page)
    draw_title(page)
    left, below, width, height = page.plot
    beyond = {"l": 0.0, "b": 0.0, "r": 0.0, "t": 0.0}
    for box in [*boxes, *bars]:
        if box is not None:
            ends = {"l": left - box.x0, "b": below - box.y0, "r": box.x1 - left - width, "t": box.y1 - below - height}
            beyond = {side: max(size, ends[side] + _EDGE) for side, size in beyond.items()}
    if legend is not None:
        side, size = legend
        if side == "below axes":
            beyond["b"] += size
        else:
            beyond[side] = max(beyond[side], size + _EDGE)
    own = {side: float(page.layout(f"margin.{side}", 80.0 if side != "t" else 100.0)) for side in beyond}
    return {side: max(own[side], size) for side, size in beyond.items()}
