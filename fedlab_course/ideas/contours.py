"""Contours of the mean loss of two clients in the plane, and marks on them: the ground of two explorers."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLUE, VERMILLION, new_figure
from fedlab_course.ideas.quadratics import Quadratics

A, B = ((1.0, 4.0), (4.0, 1.0)), ((-1.5, -0.5), (1.0, 1.5))
COLOURS, SYMBOLS = (BLUE, VERMILLION), ("square", "triangle-up")
Points = Sequence[Sequence[float]]


def contours(clients: Quadratics, around: np.ndarray) -> go.Figure:
    """An empty figure over the contours of F, large enough for the points ``around`` [n, 2]."""
    low, high = around.min(0), around.max(0)
    margin = 0.25 * float((high - low).max())
    x, y = (np.linspace(low[d] - margin, high[d] + margin, 41) for d in (0, 1))
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    figure = new_figure(title=None, x_title="w<sub>1</sub>", y_title="w<sub>2</sub>", height=600)
    figure.add_contour(
        x=x,
        y=y,
        z=clients.loss(plane).mean(0),
        name="F",
        ncontours=18,
        contours={"coloring": "lines"},
        colorscale=[(0, "#7A7A7A"), (1, "#949494")],
        showscale=False,
        hovertemplate="F = %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(range=[x[0], x[-1]], constrain="domain")
    figure.update_yaxes(range=[y[0], y[-1]], scaleanchor="x", constrain="domain")
    return figure


def line(figure: go.Figure, points: np.ndarray, name: str, colour: str, dash: str) -> None:
    figure.add_scatter(x=points[:, 0], y=points[:, 1], name=name, mode="lines", line={"color": colour, "dash": dash})


def mark(figure: go.Figure, point: np.ndarray, name: str, symbol: str, colour: str) -> None:
    marker = {"symbol": symbol, "size": 13, "color": colour, "line": {"width": 2 if symbol.endswith("open") else 0}}
    figure.add_scatter(x=[point[0]], y=[point[1]], name=name, mode="markers", marker=marker)


def pair(point: np.ndarray) -> tuple[str, str]:
    return f"{point[0]:.6f}", f"{point[1]:.6f}"
