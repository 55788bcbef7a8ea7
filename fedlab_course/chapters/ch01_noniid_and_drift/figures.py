"""How far clients diverge, and two clients on a line with the place where FedAvg comes to rest."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, BLUE, GREEN, GREY, VERMILLION, look, new_figure, set_description
from fedlab_course.explore.figures import intervals, resting_points

__all__ = ["divergence", "intervals", "parabolas", "resting_points"]

_PANELS = (("divergence", "weight divergence", BLUE, "circle"), ("common", "common share", VERMILLION, "square"))
_DOMAINS = ((0.56, 1.0), (0.0, 0.44))


def divergence(table: pd.DataFrame, *, num_clients: int = 10, title: str | None = None) -> go.Figure:
    """Weight divergence and common share against the EMD of the clients, a point for each number of labels.

    ``table``: columns ``labels_per_client``, ``seed``, ``emd``, ``divergence`` and ``common``, as the stored table
    ``c01_divergence`` has them. Points are means over seeds, and bars reach from the lowest to the highest seed. The
    dotted line is 1/``num_clients``, the common share of moves that have nothing to do with each other. Raises
    ``ValueError`` for a table without rows.
    """
    if table.empty:
        raise ValueError("table: must have at least one row")
    grouped = table.groupby("labels_per_client")[["emd", "divergence", "common"]]
    means, low, high = (made.sort_values("emd") for made in (grouped.mean(), grouped.min(), grouped.max()))
    order = means.index
    names = [f"{count} label{'s' * (count != 1)}" for count in order]
    figure = new_figure(title=title, x_title="EMD, mean over clients", y_title="", height=560, legend=False)
    for place, (column, words, colour, symbol) in enumerate(_PANELS):
        axis = "y" if place == 0 else "y2"
        bars = {"type": "data", "symmetric": False, "array": high[column].reindex(order) - means[column]}
        bars |= {"arrayminus": means[column] - low[column].reindex(order), "color": colour}
        figure.add_scatter(
            x=means["emd"],
            y=means[column],
            yaxis=axis,
            name=words,
            mode="lines+markers+text",
            text=names if place == 0 else None,
            textposition=["top center", *["top left"] * (len(names) - 1)],
            error_y=bars,
            line={"color": colour},
            marker={"color": colour, "symbol": symbol, "size": 9},
            hovertemplate="EMD %{x:.2f}: %{y:.3f}",
        )
        layout = {"domain": _DOMAINS[place], "title": words, "rangemode": "tozero", "anchor": "x"}
        figure.update_layout({f"yaxis{'' if place == 0 else 2}": layout})
    chance = {"color": GREY, "width": 2, "dash": "dot"}
    figure.add_shape(
        type="line", xref="paper", x0=0, x1=1, yref="y2", y0=1 / num_clients, y1=1 / num_clients, line=chance
    )
    figure.update_xaxes(range=[-0.15, 2.0], anchor="y2")
    figure.update_yaxes(range=[0, 1.2 * float(high["divergence"].max())], selector={"title.text": _PANELS[0][1]})
    rows = [[name, *(f"{value:.3f}" for value in row)] for name, row in zip(names, means.to_numpy(), strict=True)]
    seeds = int(table["seed"].nunique())
    ends = np.round(means.to_numpy()[[0, -1]], 3)
    text = (
        f"Two line charts against the EMD of the clients, {seeds} seeds. From {names[0]} to {names[-1]} a client the "
        f"weight divergence goes from {ends[0, 1]} to {ends[1, 1]}, and the common share of the moves from "
        f"{ends[0, 2]} to {ends[1, 2]}."
    )
    set_description(figure, text, ["labels a client", "EMD", "weight divergence", "common share"], rows)
    return figure


_POINTS = ((BLACK, "star"), (GREY, "x"), (GREEN, "diamond"))
_BEYOND = 0.4  # of the distance between the minima, on both sides


def parabolas(
    a: Sequence[float], b: Sequence[float], points: Mapping[str, float], *, title: str | None = None
) -> go.Figure:
    """The losses f_k(w) = a_k/2 (w − b_k)² of clients with equal weights, their mean F, and ``points`` on F.

    ``a``, ``b`` [N]: curvatures and minima; ``points``: at most three, name → w, written with four decimals. Raises
    ``ValueError`` for arrays of other shapes, a_k ≤ 0 and more points.
    """
    curvature, minimum = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if curvature.ndim != 1 or curvature.shape != minimum.shape or not len(curvature):
        raise ValueError(f"a, b: must be [N] both, got {list(curvature.shape)} and {list(minimum.shape)}")
    if not (curvature > 0).all():
        raise ValueError(f"a={curvature.tolist()}: must be > 0")
    if len(points) > len(_POINTS):
        raise ValueError(f"points: must be at most {len(_POINTS)}, got {len(points)}")
    margin = _BEYOND * (float(np.ptp(minimum)) or 1.0)
    w = np.linspace(minimum.min() - margin, minimum.max() + margin, 181)
    losses = curvature[:, None] / 2 * (w - minimum[:, None]) ** 2
    figure = new_figure(title=title, x_title="w", y_title="loss")
    for k, loss in enumerate(losses):
        style = look(k + 1)
        figure.add_scatter(x=w, y=loss, name=f"f<sub>{k + 1}</sub>", line={"color": style.colour, "dash": style.dash})
    figure.add_scatter(x=w, y=losses.mean(0), name="F, their mean", line={"color": BLACK, "width": 3})
    for (name, place), (colour, symbol) in zip(points.items(), _POINTS, strict=False):
        height = float((curvature * (place - minimum) ** 2).mean() / 2)
        marker = {"symbol": symbol, "size": 14, "color": colour, "line": {"color": "white", "width": 1}}
        figure.add_scatter(x=[place], y=[height], name=f"{name}: {place:.4f}", mode="markers", marker=marker)
    rows = [[f"lowest point of f_{k + 1}", f"{value:.4f}"] for k, value in enumerate(minimum)]
    rows += [[name, f"{value:.4f}"] for name, value in points.items()]
    phrases = "; ".join(f"{name} at w = {value}" for name, value in rows)
    set_description(figure, f"Parabolas of {len(minimum)} clients and their mean. {phrases}.", ["point", "w"], rows)
    return figure
