"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable, Mapping

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_core.plots.style import PURPLE, set_description
from fedlab_course.evidence import bands, charts, forest, mixes

_DRAWN: Mapping[str, tuple[str, Callable[..., go.Figure]]] = {
    "verdicts": ("All statements, by claim", forest.forest),
    "002-3": ("Labels of the first ten clients, digits", mixes.mixes),
}
TITLES = {name: title for name, (title, _) in [*_DRAWN.items(), *charts.CHARTS.items()]}


def draw(name: str) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are not there."""
    title = TITLES[validation.choice("figure", name, TITLES)]
    return _DRAWN[name][1](title=title) if name in _DRAWN else bands.draw(charts.CHARTS[name][1], title)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """Draw stored curves and, thick, a live run in front of them. Raises ``ValueError`` for other figures."""
    title, chart = charts.CHARTS[validation.choice("figure", name, charts.CHARTS)]
    figure = bands.draw(chart, title)
    curve = history.frame.dropna(subset=chart.measure)
    line = {"color": PURPLE, "width": 3.5}
    figure.add_scatter(x=curve["round"], y=curve[chart.measure], name=label, mode="lines", line=line, legendrank=900)
    last, (alt, table) = curve.iloc[-1], (figure.layout.meta[what] for what in ("alt", "table"))
    end = [label, int(last["round"]), f"{last[chart.measure]:.4g}", "", 1]
    text = f"{alt} {label}, one run: {end[2]} in round {end[1]}."
    set_description(figure, text, table["columns"], [*table["rows"], end])
    return figure
