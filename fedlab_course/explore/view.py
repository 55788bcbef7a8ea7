"""The figures of an explorer: the samples of the clients, and the curves of its runs."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core import plots
from fedlab_core.history import History
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, new_figure, set_description, spaced_markers
from fedlab_core.simulation import Diverged
from fedlab_course.explore.choices import Curve, Federation
from fedlab_course.explore.widgets import divergence_in_words

_ = translator(__name__)

# pixels: the clients, the curves with a legend, one more line of text
STRIP = 128
_HEIGHT = 330
_ROW = 20
_SMALL = 11  # pixels: the size of a line of text above the curves


class Line(NamedTuple):
    """A ``curve`` with its ``history``, and the clients of each round."""

    curve: Curve
    history: History
    cohorts: list[list[int]]


def clients(federation: Federation) -> go.Figure:
    """The samples of each client, by label."""
    figure = plots.partition(federation.build())
    figure.update_layout(height=STRIP, margin={"t": 17, "b": 26, "l": 40}, font_size=11)
    figure.update_layout(
        xaxis_title_standoff=0, yaxis2={"showticklabels": False, "ticks": "", "title": None}
    )
    figure.update_traces(
        selector={"type": "heatmap"}, z=np.asarray(figure.data[0].z, dtype=np.float32)
    )
    return figure.update_traces(
        selector={"type": "heatmap"}, colorbar={"nticks": 3, "len": 1, "title": _("samples")}
    )


def curves(
    lines: Mapping[str, Line],
    looks: Mapping[str, Look],
    x: str,
    y: str,
    rounds: int,
    federation: Federation | None,
) -> go.Figure:
    """The ``lines`` by name over an axis of ``rounds``, each with its look, or an empty chart.

    Lines on ``federation`` get the clients of their rounds, which are long: pass None while the
    lines grow.
    """
    if not lines:
        return empty()
    figure = plots.convergence({name: line.history for name, line in lines.items()}, x=x, y=y)
    for trace in figure.data:
        along = np.asarray(trace.x)
        one = looks[trace.name]
        line = lines[trace.name]
        cohorts = line.cohorts if line.curve.federation == federation else None
        # Integers and no groups make a smaller message to the browser.
        trace.update(
            x=along.astype(int) if (along == along.round()).all() else along, legendgroup=None
        )
        trace.update(customdata=cohorts, line_color=one.colour, line_dash=one.dash)
        trace.update(marker=spaced_markers(len(along), line.curve.rounds, one))
    rows = sum(name.endswith(kept("").strip()) for name in lines)
    figure.update_layout(height=_HEIGHT + _ROW * rows, font_size=12, margin={"t": 24, "r": 12})
    longest = max(rounds, *(line.history.records[-1].round for line in lines.values()))
    figure.update_xaxes(range=[0, longest * 1.02] if x == "rounds" else None, rangemode="tozero")
    return figure.update_yaxes(range=[0, 1.02] if y == "test_accuracy" else None)


def kept(name: str) -> str:
    """The name of a curve that stays on the chart when the controls move."""
    return _("{name} (kept)").format(name=name)


def empty() -> go.Figure:
    """A chart without curves."""
    figure = new_figure(title=None, x_title="", y_title="", height=_HEIGHT)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.update(range=[0, 1], ticks="", showticklabels=False)
    words = _("An empty chart: no run has finished a round.")
    set_description(figure, words, [_("name")], [])
    return figure


def mark_ends(figure: go.Figure, diverged: Mapping[str, Diverged]) -> None:
    """Mark the last point of each run that ``diverged``, by name, and say above the curves where it
    diverged.
    """
    lines = {trace.name: trace for trace in figure.data}
    words = []
    for name, error in diverged.items():
        words.append(divergence_in_words(error, name))
        if name in lines:
            line = lines[name]
            cross = {"symbol": "x", "size": 13, "color": line.line.color}
            figure.add_scatter(
                x=line.x[-1:],
                y=line.y[-1:],
                name=words[-1],
                legendgroup=line.legendgroup,
                mode="markers",
                marker=cross,
                showlegend=False,
            )
    if words:
        place = {
            "x": 0,
            "y": 1,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
        }
        look = {"align": "left", "font_size": _SMALL, "showarrow": False}  # a line fits a telephone
        figure.add_annotation(text="<br>".join(f"✗ {one}" for one in words), **place, **look)
        meta = figure.layout.meta
        alt = _("{text} {ends}.").format(text=meta["alt"], ends=_("; ").join(words))
        figure.update_layout(meta=meta | {"alt": alt}, margin_t=_ROW * (1 + len(words)))
