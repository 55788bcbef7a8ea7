"""Explorers in the plane: FedProx's pull and SCAFFOLD's corrections on two quadratics with two parameters."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION, new_figure, set_description
from fedlab_core.widgets.chart import ladder
from fedlab_core.widgets.idea import Idea
from fedlab_core.widgets.quadratic import Quadratics, rest

_A, _B = ((1.0, 4.0), (4.0, 1.0)), ((-1.5, -0.5), (1.0, 1.5))
_COLOURS, _SYMBOLS = (BLUE, VERMILLION), ("square", "triangle-up")
_MU = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
Points = Sequence[Sequence[float]]


def proximal(a: Points = _A, b: Points = _B, *, mu: float = 1.0, live: bool | None = None) -> Idea:
    """FedProx's pull: clients solve f_k(y) + μ/2 ‖y − w‖² exactly, and the server takes the mean until it rests.

    Clients f_k(w) = ½ Σ_d a_kd (w_d − b_kd)², ``a`` and ``b`` [2, 2]. Slider ``mu``. The figure shows the resting point
    w, the clients' answers between their own minima and w, and the way that the resting point takes as μ grows.
    """
    clients = Quadratics.of(a, b)
    sliders = {"mu": ladder("μ of FedProx", _MU, mu, "Proximal strength", continuous=True)}
    return Idea(lambda mu: _proximal_figure(clients, mu), sliders, live=live)


def corrections(
    a: Points = _A,
    b: Points = _B,
    *,
    rounds: int = 1,
    step: int = 0,
    steps: int = 10,
    lr: float = 0.05,
    start: Sequence[float] = (-1.0, 1.5),
    live: bool | None = None,
) -> Idea:
    """SCAFFOLD's arrows: the local gradient g_k, the correction c − c_k and their sum, all drawn downhill.

    Clients as in :func:`proximal`; both take part in every round, with ``steps`` local steps at rate ``lr`` from
    ``start``. Sliders: ``rounds``, how many are done, and ``step``, the local step of the next round that we look at.
    """
    clients = Quadratics.of(a, b)
    sliders = {
        "rounds": ladder("rounds done", (0, 1, 2, 3, 5, 10), rounds, "Rounds before this one", continuous=True),
        "step": ladder("local step", range(steps + 1), step, "Where in the next round we look", continuous=True),
    }
    origin = np.asarray(start, dtype=float)
    return Idea(lambda rounds, step: _arrows(clients, origin, rounds, step, steps, lr), sliders, live=live)


def scaffold_rounds(
    clients: Quadratics, start: np.ndarray, rounds: int, steps: int, lr: float
) -> tuple[np.ndarray, np.ndarray]:
    """w [D] and the controls c_k [N, D] after ``rounds`` rounds of SCAFFOLD (option 2) in which all take part."""
    w, controls = start, np.zeros_like(clients.b)
    for _ in range(rounds):
        offset = controls.mean(0) - controls
        y = clients.walk(w, steps, lr, offset)[-1]
        controls = -offset + (w - y) / (steps * lr)
        w = y.mean(0)
    return w, controls


def _proximal_figure(clients: Quadratics, mu: float) -> go.Figure:
    def rests(strength: float) -> np.ndarray:
        return rest(lambda w: clients.nearest(w, strength).mean(0), 2)

    w = rests(mu)
    answers = clients.nearest(w, mu)
    way = np.stack([rests(strength) for strength in (0.0, *np.geomspace(0.02, 300, 60))])
    figure = _contours(clients, np.concatenate([clients.b, way]))
    _line(figure, way, "resting point as μ grows", GREY, "1.5px,4px")
    for k, answer in enumerate(answers):
        _line(figure, np.stack([w, answer]), f"from w to the answer of client {k + 1}", _COLOURS[k % 2], "solid")
    for k, answer in enumerate(answers):
        _mark(figure, answer, f"answer of client {k + 1}", _SYMBOLS[k % 2], _COLOURS[k % 2])
        _mark(figure, clients.b[k], f"its own minimum b<sub>{k + 1}</sub>", f"{_SYMBOLS[k % 2]}-open", _COLOURS[k % 2])
    _mark(figure, clients.optimum, "optimum of F", "star", BLACK)
    _mark(figure, w, "FedProx rests at w", "x", GREEN)
    distance = float(np.linalg.norm(w - clients.optimum))
    text = (
        f"Contours of F in the plane. At μ={mu:g} FedProx rests at ({w[0]:.3f}, {w[1]:.3f}), {distance:.3f} from the "
        f"optimum; the clients' answers are {_apart(answers):.3f} apart, their minima {_apart(clients.b):.3f}."
    )
    rows = [["w, where FedProx rests", *_pair(w)], ["optimum of F", *_pair(clients.optimum)]]
    rows += [[f"answer of client {k + 1}", *_pair(answer)] for k, answer in enumerate(answers)]
    set_description(figure, text, ["point", "w₁", "w₂"], rows)
    return figure


def _arrows(clients: Quadratics, start: np.ndarray, rounds: int, step: int, steps: int, lr: float) -> go.Figure:
    w, controls = scaffold_rounds(clients, start, rounds, steps, lr)
    offset = controls.mean(0) - controls
    walk = clients.walk(w, step, lr, offset)
    here, gradient = walk[-1], clients.gradient(walk[-1])
    figure = _contours(clients, np.concatenate([clients.b, start[None]]))
    # All arrows of a picture share one scale, so that the longest is about a third of the picture.
    span = float(np.ptp(np.concatenate([clients.b, start[None]]), axis=0).max())
    lengths = np.linalg.norm([gradient, offset, gradient + offset], axis=-1)
    scale = 0.4 * span / max(float(lengths.max()), 1e-12)
    rows = []
    for k, at in enumerate(here):
        colour, client = _COLOURS[k % 2], f"client {k + 1}"
        tip, end = at - scale * gradient[k], at - scale * (gradient[k] + offset[k])
        _arrow(figure, at, tip, f"−g<sub>{k + 1}</sub>, the own gradient of {client}", colour, "5px,3px")
        _arrow(figure, tip, end, f"c<sub>{k + 1}</sub> − c, its correction", PURPLE, "2px,2px")
        _arrow(figure, at, end, f"the step that {client} takes", colour, "solid")
        _mark(figure, at, f"y<sub>{k + 1}</sub>", _SYMBOLS[k % 2], colour)
        names = ("local gradient g", "correction c − c_k", "corrected gradient")
        vectors = (gradient[k], offset[k], gradient[k] + offset[k])
        rows += [[client, name, *_pair(vector)] for name, vector in zip(names, vectors, strict=True)]
    _mark(figure, clients.optimum, "optimum of F", "star", BLACK)
    angles = [_angle(vectors[0], vectors[1]) for vectors in (gradient, gradient + offset)]
    text = (
        f"Arrows in the plane after {rounds} rounds of SCAFFOLD, at local step {step}: the clients' own gradients are "
        f"{angles[0]:.0f}° apart, the corrected ones {angles[1]:.0f}°. The server is at ({w[0]:.3f}, {w[1]:.3f})."
    )
    set_description(figure, text, ["client", "arrow", "w₁", "w₂"], rows)
    return figure


def _contours(clients: Quadratics, around: np.ndarray) -> go.Figure:
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
        colorscale=[(0, "#BDBDBD"), (1, "#E5E5E5")],
        showscale=False,
        hovertemplate="F = %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(range=[x[0], x[-1]], constrain="domain")
    figure.update_yaxes(range=[y[0], y[-1]], scaleanchor="x", constrain="domain")
    return figure


def _line(figure: go.Figure, points: np.ndarray, name: str, colour: str, dash: str) -> None:
    figure.add_scatter(x=points[:, 0], y=points[:, 1], name=name, mode="lines", line={"color": colour, "dash": dash})


def _mark(figure: go.Figure, point: np.ndarray, name: str, symbol: str, colour: str) -> None:
    marker = {"symbol": symbol, "size": 13, "color": colour, "line": {"width": 2 if symbol.endswith("open") else 0}}
    figure.add_scatter(x=[point[0]], y=[point[1]], name=name, mode="markers", marker=marker)


def _arrow(figure: go.Figure, tail: np.ndarray, tip: np.ndarray, name: str, colour: str, dash: str) -> None:
    figure.add_scatter(
        x=[tail[0], tip[0]],
        y=[tail[1], tip[1]],
        name=name,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 3 if dash == "solid" else 2},
        marker={"symbol": "arrow", "angleref": "previous", "size": [0, 14], "color": colour, "opacity": 1},
    )


def _pair(point: np.ndarray) -> tuple[str, str]:
    return f"{point[0]:.6f}", f"{point[1]:.6f}"


def _apart(points: np.ndarray) -> float:
    return float(np.linalg.norm(points[0] - points[1]))


def _angle(u: np.ndarray, v: np.ndarray) -> float:
    """Degrees between two vectors; 0 if one of them vanishes."""
    lengths = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(np.degrees(np.arccos(np.clip(u @ v / lengths, -1, 1)))) if lengths > 0 else 0.0
