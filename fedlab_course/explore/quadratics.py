"""Clients with quadratic losses as arrays, whose every number can be checked by hand, and the
contours of their mean loss.

For figures that compute at once. A federation with these losses, to train on, comes from
:func:`fedlab_core.data.synthetic.quadratics`.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import CONTOURS, GROUPS
from fedlab_core.plots.style import new_figure

# the two clients in the plane of all chapters
A = ((1.0, 4.0), (4.0, 1.0))
B = ((-1.5, -0.5), (1.0, 1.5))
COLOURS = (GROUPS[0], GROUPS[1])
SYMBOLS = ("square", "triangle-up")


class Quadratics:
    """f_k(w) = ½ Σ_d a_kd (w_d − b_kd)² for N equal clients: curvatures ``a`` > 0, minima ``b``,
    both [N] or [N, D].
    """

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = (
            np.asarray(given, dtype=float).reshape(len(given), -1) for given in (a, b)
        )

    @property
    def optimum(self) -> np.ndarray:
        """w* [D], where F = mean of f_k is lowest."""
        return (self.a * self.b).sum(0) / self.a.sum(0)

    def loss(self, w: np.ndarray) -> np.ndarray:
        """f_k at the points ``w`` [..., D], as [N, ...]."""
        a, b = (array.reshape(len(array), *[1] * (w.ndim - 1), -1) for array in (self.a, self.b))
        return 0.5 * (a * (w - b) ** 2).sum(-1)

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """∇f_k(y_k) [N, D]; ``y`` is one point [D] or one per client [N, D]."""
        return self.a * (y - self.b)

    def walk(
        self, start: np.ndarray, steps: int, lr: float, offset: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """The points y_k [steps + 1, N, D] of every client's local steps y ← y − η(∇f_k(y) +
        offset_k).
        """
        points = [np.broadcast_to(start, self.b.shape)]
        for _ in range(steps):
            points.append(points[-1] - lr * (self.gradient(points[-1]) + offset))
        return np.stack(points)


CLIENTS = Quadratics(A, B)
START = np.array([-1.9, 1.9])  # where w begins in the animated plane


def gradient(k: int, y: Any) -> np.ndarray:
    """∇f_k(y) of the client k of ``CLIENTS`` at y [2]."""
    slope: np.ndarray = CLIENTS.a[k] * (y - CLIENTS.b[k])
    return slope


def contours(
    clients: Quadratics, around: np.ndarray, *, title: str | None = None, legend: bool = True
) -> go.Figure:
    """The contours of F, large enough for the points ``around`` [n, 2]."""
    low = around.min(0)
    high = around.max(0)
    margin = 0.25 * float((high - low).max())
    x, y = (np.linspace(low[d] - margin, high[d] + margin, 41) for d in (0, 1))
    figure = new_figure(
        title=title, x_title="w<sub>1</sub>", y_title="w<sub>2</sub>", height=600, legend=legend
    )
    figure.add_contour(
        x=x,
        y=y,
        z=clients.loss(np.stack(np.meshgrid(x, y), axis=-1)).mean(0),
        name="F",
        ncontours=18,
        contours={"coloring": "lines"},
        colorscale=list(CONTOURS),
        showscale=False,
        hovertemplate="F = %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(range=[x[0], x[-1]], constrain="domain")
    figure.update_yaxes(range=[y[0], y[-1]], scaleanchor="x", constrain="domain")
    return figure


def mark(figure: go.Figure, point: np.ndarray, name: str, symbol: str, colour: str) -> None:
    marker = {
        "symbol": symbol,
        "size": 13,
        "color": colour,
        "line": {"width": 2 if symbol.endswith("open") else 0},
    }
    figure.add_scatter(x=[point[0]], y=[point[1]], name=name, mode="markers", marker=marker)


def pair(point: np.ndarray) -> tuple[str, str]:
    return f"{point[0]:.6f}", f"{point[1]:.6f}"
