"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable, Mapping
from typing import Any

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course.evidence import bands, charts, forest, mixes

_DRAWN: Mapping[str, tuple[str, Callable[..., go.Figure]]] = {
    "verdicts": ("All statements, by claim", forest.forest),
    "002-3": ("Labels of the first ten clients, digits", mixes.mixes),
}
_FIRST = ("verdicts", "000-digits", "000-mnist", "001-digits", "001-cnn", "002-3")
_ALL: Mapping[str, tuple[str, Any]] = {**_DRAWN, **charts.CHARTS}
TITLES = {name: _ALL[name][0] for name in dict.fromkeys([*_FIRST, *charts.CHARTS])}


def draw(name: str) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are not there."""
    validation.choice("figure", name, TITLES)
    if name in charts.CHARTS:
        title, chart = charts.CHARTS[name]
        return bands.draw(chart, title)
    title, function = _DRAWN[name]
    return function(title=title)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """Draw stored curves with a thick curve of a live run in front. Raises ``ValueError`` for other figures."""
    title, chart = charts.CHARTS[validation.choice("figure", name, charts.CHARTS)]
    figure = bands.draw(chart, title)
    bands.add_live(figure, history, label, chart.measure)
    return figure
