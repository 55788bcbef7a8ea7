"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, add_band, looks, new_figure, set_description
from fedlab_course.evidence import forest, judging, tables
from fedlab_course.evidence.charts import CHARTS, StoredChart
from fedlab_course.evidence.configs import SOURCES, source_of
from fedlab_course.explore.figures import add_curve

_ = translator(__name__)

_TITLES = {
    "test_accuracy": _("test accuracy"),
    "train_loss": _("training loss F(w)"),
    "outputs": _("root mean squared logit"),
}
_FORMATS = {"test_accuracy": ".1%", "train_loss": ".4g", "outputs": ".3g"}
_MARKERS_PER_CURVE = 9
_STANDARD_ERRORS = 2.0  # the half width of a band
# pixels
_PANEL = 230
_AROUND = 150
_ENTRY = 30
_COLUMNS = [
    _("curve"),
    _("round"),
    _("mean"),
    _("two standard errors"),
    _("standard deviation"),
    _("seeds"),
]


def draw(name: str) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are
    not there.
    """
    title = TITLES[validation.choice("figure", name, TITLES)]
    return chart(CHARTS[name]) if name in CHARTS else _OTHERS[name][1](title=title)


def chart(stored: StoredChart, folder: Path = tables.TABLES) -> go.Figure:
    """Draw the curves of a chart. Raises ``ValueError`` for a
    table or a curve that is not there.
    """
    count = len(stored.panels)
    height = _AROUND + _PANEL * count if count > 1 else 440 + _ENTRY * len(stored.illustration)
    figure = new_figure(title=_(stored.title), x_title="", y_title="", height=height)
    panels = [_(panel) for panel in stored.panels]
    divide(figure, panels, _("communication round"), _TITLES[stored.measure])
    styles = looks({line: line for line in stored.lines})
    _add_illustrations(figure, stored, styles)
    rows = []
    for number, panel in enumerate(stored.panels, start=1):
        curves = {line: stored.curve(panel, line, folder) for line in stored.lines}
        for line, curve in curves.items():
            if curve["n"].min() > 1:
                _add_spread(figure, number, line, curve, styles[line])
        for line, curve in curves.items():
            _add_mean(figure, number, line, curve, styles[line], _FORMATS[stored.measure])
            rows.append(_last_round(_of_panel(panel, line), curve))
    figure.update_traces(marker_maxdisplayed=_MARKERS_PER_CURVE, selector={"mode": "lines+markers"})
    if stored.measure == "test_accuracy":
        figure.update_yaxes(tickformat=".0%")
    set_description(figure, _words(stored, rows), _COLUMNS, rows)
    return figure


def _of_panel(panel: str, line: str) -> str:
    """The name of a curve, after that of its panel if it has one."""
    return _("{panel}, {line}").format(panel=_(panel), line=_(line)) if panel else _(line)


def _add_illustrations(figure: go.Figure, stored: StoredChart, styles: Mapping[str, Look]) -> None:
    """Add the lines that the source draws without having measured them, dotted."""
    for line, (source, x, y) in stored.illustration.items():
        dots = {"color": styles[line].colour, "width": 2, "dash": "1.5px,4px"}
        name = _("{name}, illustration in the source").format(name=source)
        figure.add_scatter(
            x=list(x), y=list(y), name=name, mode="lines", line=dots, legendrank=1100
        )


def _add_spread(figure: go.Figure, panel: int, line: str, curve: pd.DataFrame, style: Look) -> None:
    """Add the band of two standard errors of the mean over seeds about a curve."""
    x, mean = (curve[name].to_numpy() for name in ("round", "mean"))
    error = _errors(curve).to_numpy()
    name = _("{name}, ± two standard errors").format(name=_(line))
    add_band(figure, x, mean - error, mean + error, style, group=line, name=name)
    figure.data[-1].update(xaxis=f"x{panel}", yaxis=f"y{panel}")


def _errors(curve: pd.DataFrame) -> pd.Series:
    """Two standard errors of the mean over seeds in each round of a curve."""
    return _STANDARD_ERRORS * curve["std"] / np.sqrt(curve["n"])


def _add_mean(
    figure: go.Figure, panel: int, line: str, curve: pd.DataFrame, style: Look, form: str
) -> None:
    """Add the mean of a curve over seeds. ``form``: of the numbers in the texts on hover."""
    hover = _("round {x}<br>{mean} ± {error} over {count} seeds").format(
        x="%{x}",
        mean=f"%{{y:{form}}}",
        error=f"%{{customdata[0]:{form}}}",
        count="%{customdata[1]}",
    )
    add_curve(
        figure,
        curve["round"].to_numpy(),
        curve["mean"].to_numpy(),
        _(line),
        style,
        customdata=np.column_stack([_errors(curve), curve["n"]]),
        hovertemplate=hover,
        legendgroup=line,
        showlegend=panel == 1,
        row=panel,
        col=1,
    )


def _last_round(name: str, curve: pd.DataFrame) -> list[Any]:
    """Return the last round of a curve, as a row of the figure's table."""
    last = curve.iloc[-1]
    return [
        name,
        int(last["round"]),
        f"{last['mean']:.4g}",
        f"{_errors(curve).iloc[-1]:.2g}",
        f"{last['std']:.2g}",
        int(last["n"]),
    ]


def divide(figure: go.Figure, titles: Sequence[str], x_title: str, y_title: str) -> None:
    """Divide a figure into panels, one below the other, each with its title; the last has the title
    of all x axes.
    """
    count = len(titles)
    names = [f"<b>{title}</b>" for title in titles if title]
    figure.set_subplots(
        count, 1, shared_xaxes=True, vertical_spacing=0.3 / count, subplot_titles=names
    )
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_xaxes(title_text=x_title, row=count)
    figure.update_yaxes(title={"text": y_title, "font": {"size": 14 if count == 1 else 12}})
    if titles[0]:
        figure.update_layout(margin_t=84, title_pad_b=34)


def _words(stored: StoredChart, rows: list[list[Any]]) -> str:
    ends = _("; ").join(f"{row[0]} {row[2]} ± {row[3]}" for row in rows)
    text = _(
        "Stored curves of {y} by round: mean ± two standard errors over seeds. {title}. In the "
        "last round: {ends}."
    ).format(y=_TITLES[stored.measure], title=_(stored.title), ends=ends)
    drawn = _(", ").join(curve[0] for curve in stored.illustration.values())
    dotted = _("{text} Dotted, drawn in the source and not measured: {names}.")
    return dotted.format(text=text, names=drawn) if drawn else text


def verdicts(source: str, *, title: str) -> go.Figure:
    """Draw the verdicts on the claims whose ids begin with ``source``, or on those of no source of
    the course.
    """
    mine = {id: judged for id, judged in judging.stored().items() if source_of(id) == source}
    return forest.forest(mine, title=title)


_OTHERS: Mapping[str, tuple[str, Callable[..., go.Figure]]] = {
    **{
        f"verdicts-{source}": (
            _("Verdicts on [{source}]").format(source=source),
            partial(verdicts, source),
        )
        for source in SOURCES[:-1]
    },
    "verdicts-others": (_("Verdicts on other papers"), partial(verdicts, "others")),
}
TITLES = {
    **{name: other[0] for name, other in _OTHERS.items()},
    **{name: _(stored.title) for name, stored in CHARTS.items()},
}
