"""Cohorts: what they miss, how much their mean varies, and where clients that are away lead."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import GREY, looks, new_figure, set_description
from fedlab_course.explore.figures import add_curve

_MOST_MISSING = 9
_READ = (0.1, 0.4, 1.0)  # presences in the table
_PATTERNS = ("", "/", "x", ".")  # bars are told apart without their colours


def missing(counts: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """Bars: the share of cohorts by the number of labels that nobody in them holds, for each way to draw.

    ``counts``: way → labels missed by each of many cohorts, integers [draws]. Names that begin with an algorithm's
    have its look.
    """
    most = max(_MOST_MISSING, *(int(np.max(missed)) for missed in counts.values()))
    bars = {
        name: (list(range(most + 1)), np.bincount(missed, minlength=most + 1) / len(missed))
        for name, missed in counts.items()
    }
    figure = _bars(bars, "%{x} missing: %{y:.1%}", "labels that a cohort misses", "share of cohorts", title)
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    figure.update_xaxes(dtick=1)
    rows = [[name, f"{np.mean(all_):.2f}", int(np.min(all_)), int(np.max(all_))] for name, all_ in counts.items()]
    alt = "Bars, labels that a cohort misses on average: " + "; ".join(f"{row[0]} {row[1]}" for row in rows) + "."
    set_description(figure, alt, ["way to draw", "mean", "fewest", "most"], rows)
    return figure


def variances(values: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Bars on a logarithmic axis: the variance of a cohort's mean, for each split of the data and way to draw.

    ``values``: way → split → E‖mean of the cohort − mean of all‖², positive. Raises ``ValueError`` for others.
    """
    rows = [(split, name, value) for name, by_split in values.items() for split, value in by_split.items()]
    every = np.array([value for *_, value in rows])
    if not rows or not (every > 0).all():
        raise ValueError("values: must hold positive variances")
    bars = {name: ([*by_split], [*by_split.values()]) for name, by_split in values.items()}
    figure = _bars(bars, "%{x}: %{y:.3g}", "", "variance of the cohort's mean", None)
    figure.update_traces(texttemplate="%{y:.2g}", textposition="outside")
    exponents = np.log10(every)
    limits = [float(np.floor(exponents.min() - 0.1)), float(exponents.max() + 0.2)]  # room for the number above a bar
    figure.update_yaxes(type="log", exponentformat="power", dtick=1, range=limits)
    shown = [[split, name, f"{value:.3g}"] for split, name, value in rows]
    alt = "Bars, variance of a cohort's mean: " + "; ".join(f"{s}, {name} {value}" for s, name, value in shown) + "."
    set_description(figure, alt, ["split", "way to draw", "variance"], shown)
    return figure


def _bars(bars: Mapping[str, tuple[Any, Any]], hover: str, x_title: str, y_title: str, title: str | None) -> go.Figure:
    """Bars beside each other: name → (x, y)."""
    figure = new_figure(title=title, x_title=x_title, y_title=y_title)
    styles = looks({name: name for name in bars})
    for (name, (x, y)), pattern in zip(bars.items(), itertools.cycle(_PATTERNS), strict=False):
        marker = {"color": styles[name].colour, "pattern_shape": pattern}
        figure.add_bar(x=x, y=y, name=name, marker=marker, hovertemplate=f"{hover}<extra>{name}</extra>")
    return figure


def rests_by_presence(
    presence: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    optimum: float,
    band: float,
    marks: Mapping[str, tuple[float, float]],
) -> go.Figure:
    """Where each way to draw and weigh comes to rest against the ``presence`` of a group.

    ``lines``: way → resting points by formula, one for each presence; ``band``: half the width of the grey band about
    the ``optimum``; ``marks``: run → its presence and where it ended.
    """
    figure = new_figure(title=None, x_title="presence of the last group", y_title="comes to rest at", height=480)
    dots = {"color": GREY, "width": 1, "dash": "dot"}
    figure.add_hrect(y0=optimum - band, y1=optimum + band, fillcolor=GREY, opacity=0.15, line_width=0)
    figure.add_hline(y=optimum, line=dots, annotation_text="optimum", annotation_position="top left")
    styles, rows = looks({name: name for name in (*lines, *marks)}), []
    for name, values in lines.items():
        add_curve(figure, presence, values, f"{name}, formula", styles[name], mode="lines", width=2.5)
        rows.append([f"{name}, formula", *(f"{np.interp(at, presence, values):.3f}" for at in _READ)])
    for name, (x, y) in marks.items():
        marker = {"size": 12, "symbol": styles[name].marker, "color": styles[name].colour}
        figure.add_scatter(x=[x], y=[y], name=f"{name}, one run", mode="markers", marker=marker)
        rows.append([f"{name}, one run at {x:g}", *(f"{y:.3f}" if at == x else "" for at in _READ)])
    said = "; ".join(f"{row[0]} {', '.join(filter(None, row[1:]))}" for row in rows)
    alt = f"Resting points at presence 0.1, 0.4 and 1; the optimum is {optimum:g}, the band ±{band:g} about it: {said}."
    set_description(figure, alt, ["way", *(f"presence {at:g}" for at in _READ)], rows)
    return figure
