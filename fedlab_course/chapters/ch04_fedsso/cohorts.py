"""Cohorts: what they miss, and how much their mean varies."""

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.plots.style import looks, new_figure, set_description

_LABELS = 10  # of every data set of the chapter
_PATTERNS = ("", "/", "x", ".")  # bars are told apart without their colours


def missing(counts: Mapping[str, np.ndarray], *, title: str | None = None) -> go.Figure:
    """Bars: the share of cohorts by the number of labels that nobody in them holds, for each way to
    draw.

    ``counts``: way → labels missed by each of many cohorts, integers [draws]. Names that begin with
    an algorithm's have its look.
    """
    shares = {
        name: np.bincount(missed, minlength=_LABELS) / len(missed)
        for name, missed in counts.items()
    }
    axes = "labels that a cohort misses", "share of cohorts"
    figure = _bars(pd.DataFrame(shares), "%{x} missing: %{y:.1%}", *axes, title=title)
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    figure.update_xaxes(dtick=1)
    rows = [
        [name, f"{missed.mean():.2f}", int(missed.min()), int(missed.max())]
        for name, missed in counts.items()
    ]
    alt = (
        "Bars, labels that a cohort misses on average: "
        + "; ".join(f"{row[0]} {row[1]}" for row in rows)
        + "."
    )
    set_description(figure, alt, ["way to draw", "mean", "fewest", "most"], rows)
    return figure


def variances(values: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Bars on a logarithmic axis: the variance of a cohort's mean, for each split of the data and
    way to draw.

    ``values``: way → split → E‖mean of the cohort − mean of all‖², positive.
    """
    table = pd.DataFrame(values)
    figure = _bars(table, "%{x}: %{y:.3g}", "", "variance of the cohort's mean")
    figure.update_traces(texttemplate="%{y:.2g}", textposition="outside")
    lowest, highest = np.log10([table.min(axis=None), table.max(axis=None)])
    limits = [np.floor(lowest - 0.1), highest + 0.2]  # room for the number above a bar
    figure.update_yaxes(type="log", exponentformat="power", dtick=1, range=limits)
    rows = [
        [split, name, f"{value:.3g}"]
        for name, bars in table.items()
        for split, value in bars.items()
    ]
    alt = (
        "Bars, variance of a cohort's mean: "
        + "; ".join(f"{s}, {name} {value}" for s, name, value in rows)
        + "."
    )
    set_description(figure, alt, ["split", "way to draw", "variance"], rows)
    return figure


def _bars(
    table: pd.DataFrame, hover: str, x_title: str, y_title: str, title: str | None = None
) -> go.Figure:
    """Bars beside each other: one for each row and column of ``table``, columns by their look."""
    figure = new_figure(title=title, x_title=x_title, y_title=y_title)
    styles = looks({name: name for name in table})
    for (name, bars), pattern in zip(table.items(), itertools.cycle(_PATTERNS), strict=False):
        marker = {"color": styles[name].colour, "pattern_shape": pattern}
        figure.add_bar(
            x=table.index,
            y=bars,
            name=name,
            marker=marker,
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )
    return figure
