"""Two clients on a line: their losses with points of interest, and where FedAvg comes to rest."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREEN, GREY, look, new_figure, set_description

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
