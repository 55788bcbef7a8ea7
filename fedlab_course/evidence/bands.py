"""Stored curves as figures: mean ± standard deviation over seeds, one panel below the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.plots.style import Look, add_band, looks, new_figure, set_description
from fedlab_course.evidence import tables

_TITLES = {"test_accuracy": "test accuracy", "train_loss": "training loss F(w)"}
_FORMATS = {"test_accuracy": ".1%", "train_loss": ".4g"}
_MARKERS_PER_CURVE = 9
_PANEL, _AROUND, _ENTRY = 230, 150, 30  # pixels
_COLUMNS = ["curve", "round", "mean", "standard deviation", "seeds"]

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
        """``round``, ``mean``, ``std`` and ``n`` of one curve. Raises ``ValueError`` if it is not there."""
        own = {**self.panels[panel], **self.lines[line]}
        name = f"{own.pop('table', self.table)}_curves"
        rows = tables.matching(name, own, folder).sort_values("round")
        return rows.rename(columns={f"{self.measure}_{what}": what for what in ("mean", "std")})


def draw(chart: Chart, title: str, folder: Path = tables.TABLES) -> go.Figure:
    """Draw a chart. Raises ``ValueError`` for a table or a curve that is not there."""
    count = len(chart.panels)
    height = _AROUND + _PANEL * count if count > 1 else 440 + _ENTRY * len(chart.illustration)
    figure = new_figure(title=title, x_title="", y_title="", height=height)
    divide(figure, list(chart.panels), "communication round", _TITLES[chart.measure])
    styles = looks({line: line for line in chart.lines})
    for line, (source, x, y) in chart.illustration.items():
        look = {"color": styles[line].colour, "width": 2, "dash": "1.5px,4px"}
        name = f"{source}, illustration in the source"
        figure.add_scatter(x=list(x), y=list(y), name=name, mode="lines", line=look, legendrank=1100)
    rows = []
    for number, panel in enumerate(chart.panels, start=1):
        curves = {line: chart.curve(panel, line, folder) for line in chart.lines}
        for line, curve in curves.items():
            if curve["n"].min() > 1:
                x, mean, spread = (curve[name].to_numpy() for name in ("round", "mean", "std"))
                band = f"{line}, ± one standard deviation"
                add_band(figure, x, mean - spread, mean + spread, styles[line], group=line, name=band)
                figure.data[-1].update(xaxis=f"x{number}", yaxis=f"y{number}")
        for line, curve in curves.items():
            _curve(figure, curve, _FORMATS[chart.measure], styles[line], line, number)
            last = curve.iloc[-1]
            name = f"{panel}, {line}" if panel else line
            rows.append([name, int(last["round"]), f"{last['mean']:.4g}", f"{last['std']:.2g}", int(last["n"])])
    if chart.measure == "test_accuracy":
        figure.update_yaxes(tickformat=".0%")
    set_description(figure, _words(chart, title, rows), _COLUMNS, rows)
    return figure


def divide(figure: go.Figure, titles: Sequence[str], x_title: str, y_title: str) -> None:
    """Divide a figure into panels, one below the other, each with its title; the last has the title of all x axes."""
    count = len(titles)
    names = [f"<b>{title}</b>" for title in titles if title]
    figure.set_subplots(count, 1, shared_xaxes=True, vertical_spacing=0.3 / count, subplot_titles=names)
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_xaxes(title_text=x_title, row=count)
    figure.update_yaxes(title={"text": y_title, "font": {"size": 14 if count == 1 else 12}})
    if titles[0]:
        figure.update_layout(margin_t=84, title_pad_b=34)


def _curve(figure: go.Figure, curve: pd.DataFrame, form: str, style: Look, line: str, panel: int) -> None:
    figure.add_scatter(
        x=curve["round"].to_numpy(),
        y=curve["mean"].to_numpy(),
        customdata=curve[["std", "n"]].to_numpy(),
        name=line,
        legendgroup=line,
        showlegend=panel == 1,
        mode="lines+markers",
        line={"color": style.colour, "dash": style.dash, "width": 2},
        marker={"color": style.colour, "symbol": style.marker, "size": 8, "maxdisplayed": _MARKERS_PER_CURVE},
        hovertemplate=f"round %{{x}}<br>%{{y:{form}}} ± %{{customdata[0]:{form}}} over %{{customdata[1]}} seeds",
        row=panel,
        col=1,
    )


def _words(chart: Chart, title: str, rows: list[list[Any]]) -> str:
    ends = "; ".join(f"{name} {mean} ± {spread}" for name, _, mean, spread, _ in rows)
    text = f"Stored curves of {_TITLES[chart.measure]} by round: mean ± standard deviation over seeds. {title}. "
    text += f"In the last round: {ends}."
    drawn = ", ".join(name for name, *_ in chart.illustration.values())
    return f"{text} Dotted, drawn in the source and not measured: {drawn}." if drawn else text
