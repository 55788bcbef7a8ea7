"""Stored curves as figures: mean ± standard deviation over seeds, one panel below the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.history import History
from fedlab_core.plots.style import PURPLE, Look, add_band, looks, new_figure, set_description
from fedlab_course.evidence import tables

_TITLES = {"test_accuracy": "test accuracy", "train_loss": "training loss F(w)"}
_MARKERS_PER_CURVE = 9
_PANEL, _AROUND, _ENTRY = 230, 150, 30  # pixels
_COLUMNS = ["panel", "curve", "round", "mean", "standard deviation", "seeds"]

Where = Mapping[str, Any]
Drawn = tuple[str, Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Chart:
    """Curves of the sweep ``table``: the rows with the values of a panel and of a line are one curve.

    ``lines``: name → column values, or a ``table`` of its own; ``panels``: title → column values. ``illustration``:
    line → (name, rounds, values) of a curve that a source has drawn and not measured, dotted in the first panel.
    """

    table: str
    measure: str
    lines: Mapping[str, Where]
    panels: Mapping[str, Where] = field(default_factory=lambda: {"": {}})
    illustration: Mapping[str, Drawn] = field(default_factory=dict)

    def curve(self, panel: str, line: str, folder: Path) -> pd.DataFrame:
        """The rows of one curve. Raises ``ValueError`` for a table or a curve that is not there."""
        own = {**self.panels[panel], **self.lines[line]}
        name = f"{own.pop('table', self.table)}_curves"
        return tables.matching(tables.present(name, folder), name, own).sort_values("round")


def draw(chart: Chart, title: str, folder: Path = tables.TABLES) -> go.Figure:
    """Draw a chart. Raises ``ValueError`` for a table or a curve that is not there."""
    count, y_title = len(chart.panels), _TITLES[chart.measure]
    height = _AROUND + _PANEL * count if count > 1 else 440 + _ENTRY * len(chart.illustration)
    figure = new_figure(title=title, x_title="communication round", y_title=y_title, height=height)
    _divide(figure, list(chart.panels), y_title)
    styles = looks({line: line for line in chart.lines})
    for line, (source, x, y) in chart.illustration.items():
        look = {"color": styles[line].colour, "width": 2, "dash": "1.5px,4px"}
        name = f"{source}, illustration in the source"
        figure.add_scatter(x=list(x), y=list(y), name=name, mode="lines", line=look, legendrank=1100)
    rows = []
    for place, panel in enumerate(chart.panels, start=1):
        axis = "y" if place == 1 else f"y{place}"
        curves = {line: chart.curve(panel, line, folder) for line in chart.lines}
        for line, curve in curves.items():
            if curve["n"].min() > 1:
                x, mean, spread = (curve[name].to_numpy() for name in ("round", *_names(chart)))
                band = f"{line}, ± one standard deviation"
                add_band(figure, x, mean - spread, mean + spread, styles[line], group=line, name=band)
                figure.data[-1].update(yaxis=axis)
        for line, curve in curves.items():
            _curve(figure, curve, chart, styles[line], line, axis)
            last = curve.iloc[-1]
            mean, spread = (last[name] for name in _names(chart))
            rows.append([panel, line, int(last["round"]), f"{mean:.4g}", f"{spread:.2g}", int(last["n"])])
    keep = slice(0 if count > 1 else 1, None)
    set_description(figure, _words(chart, title, rows), _COLUMNS[keep], [row[keep] for row in rows])
    return figure


def add_live(figure: go.Figure, history: History, label: str, measure: str) -> None:
    """Add the curve of a live run to the first panel, thick and without markers, and its end to the description."""
    curve = history.frame.dropna(subset=measure)
    line = {"color": PURPLE, "width": 3.5}
    figure.add_scatter(x=curve["round"], y=curve[measure], name=label, mode="lines", line=line, legendrank=900)
    round_, value = int(curve["round"].iloc[-1]), float(curve[measure].iloc[-1])
    alt, table = figure.layout.meta["alt"], figure.layout.meta["table"]
    rows = [*table["rows"], [*[""] * (len(table["columns"]) - 5), label, round_, f"{value:.4g}", "", 1]]
    set_description(figure, f"{alt} {label}, one run: {value:.4g} in round {round_}.", table["columns"], rows)


def _divide(figure: go.Figure, titles: list[str], y_title: str) -> None:
    """A vertical axis for each panel, the first on top, over one axis of rounds at the bottom."""
    count = len(titles)
    gap = 0.0 if count == 1 else 0.17 / (count - 1) + 0.02
    height = (1 - gap * (count - 1)) / count
    for place, title in enumerate(titles, start=1):
        top = 1 - (place - 1) * (height + gap)
        words = {"text": y_title, "font": {"size": 14 if count == 1 else 12}}
        axis = {"domain": [max(0.0, top - height), top], "title": words, "anchor": "x"}
        figure.update_layout({f"yaxis{place if place > 1 else ''}": axis})
        if title:
            where = {"x": 0, "xanchor": "left", "xref": "paper", "y": top, "yanchor": "bottom", "yref": "paper"}
            figure.add_annotation(text=f"<b>{title}</b>", showarrow=False, font_size=13, **where)
    figure.update_xaxes(anchor="y" if count == 1 else f"y{count}")
    if titles[0]:
        figure.update_layout(margin_t=84, title_pad_b=34)


def _names(chart: Chart) -> tuple[str, str]:
    """The columns of mean and spread."""
    return f"{chart.measure}_mean", f"{chart.measure}_std"


def _curve(figure: go.Figure, curve: pd.DataFrame, chart: Chart, style: Look, line: str, axis: str) -> None:
    form = ".1%" if chart.measure == "test_accuracy" else ".4g"
    mean, spread = _names(chart)
    figure.add_scatter(
        x=curve["round"].to_numpy(),
        y=curve[mean].to_numpy(),
        customdata=np.stack([curve[spread], curve["n"]], axis=1),
        name=line,
        legendgroup=line,
        showlegend=axis == "y",
        yaxis=axis,
        mode="lines+markers",
        line={"color": style.colour, "dash": style.dash, "width": 2},
        marker={"color": style.colour, "symbol": style.marker, "size": 8, "maxdisplayed": _MARKERS_PER_CURVE},
        hovertemplate=f"round %{{x}}<br>%{{y:{form}}} ± %{{customdata[0]:{form}}} over %{{customdata[1]}} seeds",
    )
    if chart.measure == "test_accuracy":
        figure.update_yaxes(tickformat=".0%")


def _words(chart: Chart, title: str, rows: list[list[Any]]) -> str:
    ends = "; ".join(
        f"{f'{panel}, ' if panel else ''}{line} {mean} ± {spread}" for panel, line, _, mean, spread, _ in rows
    )
    text = f"Stored curves of {_TITLES[chart.measure]} by round: mean ± standard deviation over seeds. {title}. "
    text += f"In the last round: {ends}."
    drawn = ", ".join(name for name, *_ in chart.illustration.values())
    return f"{text} Dotted, drawn in the source and not measured: {drawn}." if drawn else text
