"""Cohorts: what they miss, how much their mean varies, and where clients that are away lead."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import GREY, Look, looks, new_figure, set_description
from fedlab_course.explore.figures import add_curve

_MOST_MISSING = 9


def missing(counts: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """Bars: the share of cohorts by the number of labels that nobody in them holds, for each way to draw.

    ``counts``: way → labels missed by each of many cohorts, integers [draws]. Names that begin with an algorithm's
    have its look. Raises ``ValueError`` without cohorts.
    """
    values = {name: np.asarray(missed) for name, missed in counts.items()}
    if not values or any(len(missed) == 0 for missed in values.values()):
        raise ValueError("counts: must hold the labels missed by at least one cohort for each way to draw")
    figure = new_figure(title=title, x_title="labels that a cohort misses", y_title="share of cohorts")
    styles, rows = looks({name: name for name in values}), []
    most = max(_MOST_MISSING, *(int(missed.max()) for missed in values.values()))
    for pattern, (name, missed) in zip(_patterns(values), values.items(), strict=True):
        share = np.bincount(missed, minlength=most + 1) / len(missed)
        _add_bars(figure, list(range(most + 1)), share, name, styles[name], pattern, "%{x} missing: %{y:.1%}")
        rows.append([name, f"{missed.mean():.2f}", int(missed.min()), int(missed.max())])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    figure.update_xaxes(dtick=1)
    alt = "Bars, labels that a cohort misses on average: " + "; ".join(f"{row[0]} {row[1]}" for row in rows) + "."
    set_description(figure, alt, ["way to draw", "mean", "fewest", "most"], rows)
    return figure


def variances(values: Mapping[str, Mapping[str, float]], *, title: str | None = None) -> go.Figure:
    """Bars on a logarithmic axis: the variance of a cohort's mean, for each split of the data and way to draw.

    ``values``: way → split → E‖mean of the cohort − mean of all‖², positive. Raises ``ValueError`` for others.
    """
    if not values or any(not value > 0 for by_split in values.values() for value in by_split.values()):
        raise ValueError("values: must hold positive variances")
    figure = new_figure(title=title, x_title="", y_title="variance of the cohort's mean")
    styles, rows = looks({name: name for name in values}), []
    for pattern, (name, by_split) in zip(_patterns(values), values.items(), strict=True):
        _add_bars(figure, [*by_split], [*by_split.values()], name, styles[name], pattern, "%{x}: %{y:.3g}")
        figure.data[-1].update(texttemplate="%{y:.2g}", textposition="outside")
        rows += [[split, name, f"{value:.3g}"] for split, value in by_split.items()]
    every = np.log10([value for by_split in values.values() for value in by_split.values()])
    limits = [float(np.floor(every.min() - 0.1)), float(every.max() + 0.2)]  # room for the number above a bar
    figure.update_yaxes(type="log", exponentformat="power", dtick=1, range=limits)
    alt = "Bars, variance of a cohort's mean: " + "; ".join(f"{s}, {name} {value}" for s, name, value in rows) + "."
    set_description(figure, alt, ["split", "way to draw", "variance"], rows)
    return figure


def rests_by_presence(
    presence: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    optimum: float,
    band: float,
    marks: Mapping[str, tuple[float, float]] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Where each way to draw and weigh comes to rest against the ``presence`` of a group.

    ``lines``: way → resting points by formula, one for each presence; ``band``: half the width of the grey band about
    the ``optimum``; ``marks``: run → its presence and where it ended.
    """
    x_title, y_title = "presence of the last group", "comes to rest at"
    figure = new_figure(title=title, x_title=x_title, y_title=y_title, height=480)
    line = {"color": GREY, "width": 1}
    figure.add_hrect(y0=optimum - band, y1=optimum + band, fillcolor=GREY, opacity=0.15, line_width=0)
    figure.add_hline(y=optimum, line=line | {"dash": "dot"}, annotation_text="optimum", annotation_position="top left")
    styles, rows = looks({name: name for name in (*lines, *(marks or {}))}), []
    for name, values in lines.items():
        add_curve(figure, presence, values, f"{name}, formula", styles[name], mode="lines", width=2.5)
        rows.append([f"{name}, formula", *(f"{np.interp(at, presence, values):.3f}" for at in (0.1, 0.4, 1.0))])
    for name, (x, y) in (marks or {}).items():
        marker = {"size": 12, "symbol": styles[name].marker, "color": styles[name].colour}
        figure.add_scatter(x=[x], y=[y], name=f"{name}, one run", mode="markers", marker=marker)
        rows.append([f"{name}, one run at {x:g}", *(f"{y:.3f}" if at == x else "" for at in (0.1, 0.4, 1.0))])
    said = "; ".join(f"{row[0]} {', '.join(filter(None, row[1:]))}" for row in rows)
    alt = f"Resting points at presence 0.1, 0.4 and 1; the optimum is {optimum:g}, the band ±{band:g} about it: {said}."
    set_description(figure, alt, ["way", "presence 0.1", "presence 0.4", "presence 1"], rows)
    return figure


def _patterns(names: Mapping[str, Any]) -> list[str]:
    """A pattern for each, so that bars can be told apart without their colours."""
    return [("", "/", "x", ".")[i % 4] for i in range(len(names))]


def _add_bars(figure: go.Figure, x: Any, y: Any, name: str, style: Look, pattern: str, hover: str) -> None:
    marker = {"color": style.colour, "pattern_shape": pattern}
    figure.add_bar(x=x, y=y, name=name, marker=marker, hovertemplate=f"{hover}<extra>{name}</extra>")
