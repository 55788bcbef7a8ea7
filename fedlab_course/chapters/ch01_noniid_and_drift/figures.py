"""How far clients diverge, and two clients on a line with the place where FedAvg comes to rest."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import group_look, new_figure, set_description
from fedlab_course.explore.figures import intervals, resting_points
from fedlab_course.explore.quadratics import Quadratics

__all__ = ["divergence", "intervals", "parabolas", "resting_points"]

# curvatures and minima of the chapter's two clients
A = (1.0, 3.0)
B = (0.0, 1.0)
CLIENTS = Quadratics(A, B)


class _Panel(NamedTuple):
    """One of two charts, one above the other. ``column``: of the table; ``domain``: its part of the
    height.
    """

    axis: str
    column: str
    title: str
    colour: str
    symbol: str
    domain: tuple[float, float]


_PANELS = (
    _Panel("y", "divergence", "weight divergence", GROUPS[0], "circle", (0.56, 1.0)),
    _Panel("y2", "common", "common share", GROUPS[2], "square", (0.0, 0.44)),
)
_CHANCE = 0.1  # the common share of ten moves that have nothing in common
_POINTS = ((INK, "star"), (GREY, "x"))


def divergence(table: pd.DataFrame) -> go.Figure:
    """Weight divergence and common share against the EMD of ten clients, a point for each number of
    labels.

    ``table``: the stored ``weight_divergence``. Points are means over seeds, bars reach from the
    lowest to the highest seed, and the dotted line is the common share by chance.
    """
    measures = table.groupby("labels_per_client")[["emd", "divergence", "common"]]
    over_seeds = measures.agg(["mean", "min", "max"]).sort_values(("emd", "mean"))
    means = over_seeds.xs("mean", axis="columns", level=1)
    names = [f"{count} label{'s' * (count != 1)}" for count in means.index]
    figure = new_figure(
        title=None, x_title="EMD, mean over clients", y_title="", height=560, legend=False
    )
    for panel in _PANELS:
        _add_panel(figure, panel, means["emd"], over_seeds[panel.column], names)
    dots = {"color": GREY, "width": 2, "dash": "dot"}
    figure.add_shape(
        type="line", xref="paper", x0=0, x1=1, yref="y2", y0=_CHANCE, y1=_CHANCE, line=dots
    )
    figure.update_xaxes(range=[-0.15, 2.0], anchor="y2")
    figure.update_layout(yaxis_range=[0, 1.2 * over_seeds["divergence", "max"].max()])
    rows = [
        [name, *(f"{value:.3f}" for value in row)]
        for name, row in zip(names, means.to_numpy(), strict=True)
    ]
    _, _, weights, common = rows[0]
    _, _, weights_last, common_last = rows[-1]
    text = (
        f"Two line charts against the EMD of the clients, {table['seed'].nunique()} seeds. From "
        f"{names[0]} to {names[-1]} a client the weight divergence goes from {weights} to "
        f"{weights_last}, and the common share of the moves from {common} to {common_last}."
    )
    set_description(
        figure, text, ["labels a client", "EMD", "weight divergence", "common share"], rows
    )
    return figure


def _add_panel(
    figure: go.Figure, panel: _Panel, emd: pd.Series, measure: pd.DataFrame, names: list[str]
) -> None:
    """Add the curve of one measure: its mean, and bars from the lowest to the highest seed.

    ``measure``: its ``mean``, ``min`` and ``max`` by number of labels. The first panel names them.
    """
    bars = {
        "type": "data",
        "symmetric": False,
        "array": measure["max"] - measure["mean"],
        "arrayminus": measure["mean"] - measure["min"],
        "color": panel.colour,
    }
    figure.add_scatter(
        x=emd,
        y=measure["mean"],
        yaxis=panel.axis,
        name=panel.title,
        mode="lines+markers+text",
        text=names if panel.axis == "y" else None,
        textposition=["top center", *["top left"] * (len(names) - 1)],
        error_y=bars,
        line={"color": panel.colour},
        marker={"color": panel.colour, "symbol": panel.symbol, "size": 9},
        hovertemplate="EMD %{x:.2f}: %{y:.3f}",
    )
    layout = {"domain": panel.domain, "title": panel.title, "rangemode": "tozero", "anchor": "x"}
    figure.update_layout({panel.axis.replace("y", "yaxis"): layout})


def parabolas(points: Mapping[str, float]) -> go.Figure:
    """The losses f_k(w) = a_k/2 (w − b_k)² of the two clients, their mean F, and ``points`` on F.

    ``points``: at most two, name → w, written with four decimals.
    """
    figure = losses(np.linspace(-0.4, 1.4, 181))
    for (name, place), (colour, symbol) in zip(points.items(), _POINTS, strict=False):
        add_mark(figure, place, f"{name}: {place:.4f}", symbol, colour)
    places = {f"lowest point of f_{k + 1}": lowest for k, lowest in enumerate(B)} | dict(points)
    rows = [[name, f"{place:.4f}"] for name, place in places.items()]
    phrases = "; ".join(f"{name} at w = {place}" for name, place in rows)
    set_description(
        figure, f"Parabolas of {len(B)} clients and their mean. {phrases}.", ["point", "w"], rows
    )
    return figure


def losses(w: np.ndarray, *, height: int = 440) -> go.Figure:
    """The loss of either client at the points ``w`` [n] of a line, and the mean of the losses."""
    figure = new_figure(title=None, x_title="w", y_title="loss", height=height)
    values = CLIENTS.loss(w[:, None])
    for k, loss in enumerate(values):
        line = {"color": group_look(k).colour, "dash": group_look(k).dash}
        figure.add_scatter(x=w, y=loss, name=f"f<sub>{k + 1}</sub>", mode="lines", line=line)
    figure.add_scatter(
        x=w, y=values.mean(0), name="F, their mean", mode="lines", line={"color": INK, "width": 3}
    )
    return figure


def add_mark(figure: go.Figure, w: float, name: str, symbol: str, colour: str) -> None:
    """Add a point of the mean loss."""
    marker = {"symbol": symbol, "size": 14, "color": colour, "line": {"color": "white", "width": 1}}
    figure.add_scatter(
        x=[w], y=[CLIENTS.loss(np.array([w])).mean()], name=name, mode="markers", marker=marker
    )
