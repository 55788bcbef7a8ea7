"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course.evidence import bands, charts, forest, mixes, tables

_DRAWN: Mapping[str, tuple[str, Callable[..., go.Figure]]] = {
    "verdicts": ("All statements, by claim", forest.forest),
    "002-3": ("Labels of the first ten clients, digits", mixes.mixes),
}
_ORDER = ("verdicts", "000-digits", "000-mnist", "001-digits", "001-cnn", "002-3")
TITLES = {name: (_DRAWN | charts.CHARTS)[name][0] for name in dict.fromkeys([*_ORDER, *charts.CHARTS])}


def missing(name: str, folder: Path = tables.TABLES) -> list[str]:
    """The tables that a figure needs and that are not there. Raises ``ValueError`` for an unknown figure."""
    validation.choice("figure", name, TITLES)
    needed = charts.CHARTS[name][1].tables if name in charts.CHARTS else ()
    return [table for table in needed if not (folder / f"{table}.csv").is_file()]


def drawable(folder: Path = tables.TABLES) -> list[str]:
    """The figures whose tables are all there, in order."""
    return [name for name in TITLES if not missing(name, folder)]


def draw(name: str, folder: Path = tables.TABLES) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are not there."""
    lacking = missing(name, folder)
    if lacking:
        raise ValueError(f"figure={name!r}: cannot be drawn, {', '.join(lacking)} has not been measured yet")
    if name in charts.CHARTS:
        title, chart = charts.CHARTS[name]
        return bands.draw(chart, title, folder)
    title, function = _DRAWN[name]
    return function(title=title)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """Draw a figure of stored curves with a thick curve of a live run in front. Raises as :func:`draw`."""
    figure = draw(name)
    validation.choice("figure", name, charts.CHARTS)
    bands.add_live(figure, history, label, charts.CHARTS[name][1].measure)
    return figure
