"""Two clients in the plane under the reader's local step, and how far a proximal term takes them.

The clients of all chapters: losses ½ Σ_d a_kd (y_d − b_kd)², with their minima at the square and at
the triangle.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import CONTOURS, GREY, INK, METHODS
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.explore.quadratics import COLOURS, SYMBOLS, A, B, Quadratics

LocalUpdate = Callable[..., Any]
CLIENTS = Quadratics(A, B)
START = np.array([-1.9, 1.9])
STEPS = 10
RATE = 0.05
STRENGTHS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
ROUNDS = (1, 2, 3, 5, 10, 20, 50)
_RANGES = ((-2.4, 1.8), (-1.3, 2.4))  # of the picture
_FAR = 1e6  # a path further away than this is not followed


def _gradient(k: int, y: np.ndarray) -> np.ndarray:
    """The gradient of the loss of client k at y [2]."""
    slope: np.ndarray = CLIENTS.a[k] * (y - CLIENTS.b[k])
    return slope


def path(update: LocalUpdate, mu: float, rounds: int) -> np.ndarray:
    """w before the first round and after each round [rounds + 1, 2]; shorter if w runs away."""
    points = [START]
    for _ in range(rounds):
        if np.abs(points[-1]).max() > _FAR:
            break
        ends = [update(points[-1], k, _gradient, RATE, STEPS, mu) for k in (0, 1)]
        points.append(np.mean(ends, axis=0))
    return np.array(points)


def local_steps(update: LocalUpdate, w: np.ndarray, mu: float) -> np.ndarray:
    """y_k after 0, 1, … local steps from w [STEPS + 1, 2 clients, 2]."""
    return np.array(
        [[update(w, k, _gradient, RATE, steps, mu) for k in (0, 1)] for steps in range(STEPS + 1)]
    )


def off(update: LocalUpdate, mu: float, rounds: int) -> float:
    """The distance of w from the optimum after so many rounds."""
    return float(np.linalg.norm(path(update, mu, rounds)[-1] - CLIENTS.optimum))


def draw(update: LocalUpdate, wrong: LocalUpdate, mu: float, round: int) -> go.Figure:
    """The local steps of a round and the path of w up to it, with both local steps side by side."""
    figure = new_figure(
        title=f"μ = {mu:g}, round {round}, {own.whose(update)}",
        x_title="",
        y_title="",
        height=480,
        legend=False,
    )
    titles = ["<b>y − w: it pulls back</b>", "<b>w − y: it pushes away</b>"]
    figure.set_subplots(1, 2, horizontal_spacing=0.09, subplot_titles=titles)
    figure.update_annotations(font_size=13)
    rows = []
    for panel, one in enumerate((update, wrong), start=1):
        way = path(one, mu, round)
        _add_plane(figure, panel)
        _add_clients(figure, panel, local_steps(one, way[max(0, len(way) - 2)], mu))
        _add_way(figure, panel, way)
        rows.append(_row(("y − w", "w − y")[panel - 1], way))
    figure.update_xaxes(title_text="w<sub>1</sub>", range=_RANGES[0], zeroline=False)
    figure.update_yaxes(range=_RANGES[1], zeroline=False)
    figure.update_yaxes(title_text="w<sub>2</sub>", col=1)
    figure.update_layout(margin_t=84, title_pad_b=34)
    phrases = "; ".join(
        f"with {name} w is at {at}, {far} from the optimum" for name, at, far in rows
    )
    text = (
        f"Two planes with contours of F, its optimum, the minima of two clients, their {STEPS} "
        f"local steps of round {round} and the path of w, at μ={mu:g}. {phrases}."
    )
    set_description(figure, text, ["proximal term", "w", "from the optimum"], rows)
    return figure


def _row(name: str, way: np.ndarray) -> list[str]:
    last = way[-1]
    far = float(np.linalg.norm(last - CLIENTS.optimum))
    return [name, f"({last[0]:.3g}, {last[1]:.3g})", f"{far:.3g}"]


def _add_plane(figure: go.Figure, panel: int) -> None:
    """Add the contours of F, the minima of both clients and the optimum, with their names."""
    x, y = (np.linspace(*ends, 41) for ends in _RANGES)
    figure.add_contour(
        x=x,
        y=y,
        z=CLIENTS.loss(np.stack(np.meshgrid(x, y), axis=-1)).mean(0),
        ncontours=18,
        contours={"coloring": "lines"},
        colorscale=list(CONTOURS),
        showscale=False,
        hoverinfo="skip",
        row=1,
        col=panel,
    )
    for k, (at, colour, symbol) in enumerate(zip(CLIENTS.b, COLOURS, SYMBOLS, strict=True)):
        _add_mark(figure, panel, at, f"b<sub>{k + 1}</sub>", f"{symbol}-open", colour)
    _add_mark(figure, panel, CLIENTS.optimum, "optimum", "star", INK)


def _add_mark(
    figure: go.Figure, panel: int, at: np.ndarray, name: str, symbol: str, colour: str
) -> None:
    figure.add_scatter(
        x=[at[0]],
        y=[at[1]],
        name=name,
        text=[name],
        textposition="bottom center",
        textfont={"color": colour},
        mode="markers+text",
        marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 2}},
        hoverinfo="name",
        row=1,
        col=panel,
    )


def _add_clients(figure: go.Figure, panel: int, steps: np.ndarray) -> None:
    """Add the local steps of both clients [steps + 1, 2, 2] as dots on a line."""
    for k, (colour, symbol) in enumerate(zip(COLOURS, SYMBOLS, strict=True)):
        figure.add_scatter(
            x=steps[:, k, 0],
            y=steps[:, k, 1],
            name=f"local steps of client {k + 1}",
            mode="lines+markers",
            line={"color": colour, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 6},
            hoverinfo="name",
            row=1,
            col=panel,
        )


def _add_way(figure: go.Figure, panel: int, way: np.ndarray) -> None:
    """Add the path of w [n, 2] over the rounds, and a cross where it is now."""
    line = {"color": METHODS["fedprox"], "width": 3}
    places: dict[str, Any] = {"row": 1, "col": panel}
    figure.add_scatter(
        x=way[:, 0], y=way[:, 1], name="path of w", mode="lines", line=line, **places
    )
    _add_mark(figure, panel, way[0], "start", "circle", GREY)
    (left, right), (low, high) = _RANGES
    if left < way[-1, 0] < right and low < way[-1, 1] < high:
        _add_mark(figure, panel, way[-1], "w", "x", METHODS["fedprox"])
        return
    words = {"text": "w runs away", "font": {"color": METHODS["fedprox"]}, "showarrow": False}
    figure.add_annotation(x=right, y=high, xanchor="right", yanchor="top", **words, **places)
