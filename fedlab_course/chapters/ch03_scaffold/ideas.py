"""Explorer: SCAFFOLD's arrows, the local gradients and what the control variates make of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, PURPLE, set_description
from fedlab_course.explore import quadratics as plane
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import COLOURS, SYMBOLS, A, B, Points, Quadratics
from fedlab_course.explore.sliders import Slider

START, STEPS, LR = (-1.0, 1.5), 10, 0.05


def corrections(
    a: Points = A,
    b: Points = B,
    *,
    rounds: int = 1,
    step: int = 0,
    steps: int = STEPS,
    lr: float = LR,
    start: Sequence[float] = START,
    **options: Any,
) -> Idea:
    """SCAFFOLD's arrows: the local gradient g_k, the correction c − c_k and their sum, all drawn downhill.

    Clients as in chapter 2; both take part in every round, with ``steps`` local steps at rate ``lr`` from ``start``.
    Sliders: ``rounds``, how many are done, and ``step``, the local step of the next round that we look at.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    clients = Quadratics.of(a, b)
    sliders = {
        "rounds": Slider.over("rounds done", (0, 1, 2, 3, 5, 10), rounds, "Rounds before this one"),
        "step": Slider.over("local step", range(steps + 1), step, "Where in the next round we look"),
    }
    origin = np.asarray(start, dtype=float)
    return Idea(lambda rounds, step: _arrows(clients, origin, rounds, step, steps, lr), sliders, **options)


def side_by_side(degrees: float) -> Goal:
    """The goal of :func:`corrections` as it is by default: both clients step in one direction, to so many degrees."""

    def check(rounds: int, step: int) -> bool:
        clients = Quadratics.of(A, B)
        w, controls = scaffold_rounds(clients, np.array(START), rounds, STEPS, LR)
        offset = controls.mean(0) - controls
        corrected = clients.gradient(clients.walk(w, step, LR, offset)[-1]) + offset
        return _angle(corrected[0], corrected[1]) <= degrees

    return Goal(f"find a step at which the two clients walk in one direction, to {degrees:g}°", check)


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


def _arrows(clients: Quadratics, start: np.ndarray, rounds: int, step: int, steps: int, lr: float) -> go.Figure:
    w, controls = scaffold_rounds(clients, start, rounds, steps, lr)
    offset = controls.mean(0) - controls
    walk = clients.walk(w, step, lr, offset)
    here, gradient = walk[-1], clients.gradient(walk[-1])
    figure = plane.contours(clients, np.concatenate([clients.b, start[None]]))
    # All arrows of a picture share one scale, so that the longest is about a third of the picture.
    span = float(np.ptp(np.concatenate([clients.b, start[None]]), axis=0).max())
    lengths = np.linalg.norm([gradient, offset, gradient + offset], axis=-1)
    scale = 0.4 * span / max(float(lengths.max()), 1e-12)
    rows = []
    for k, at in enumerate(here):
        colour, client = COLOURS[k % 2], f"client {k + 1}"
        tip, end = at - scale * gradient[k], at - scale * (gradient[k] + offset[k])
        _arrow(figure, at, tip, f"−g<sub>{k + 1}</sub>, the own gradient of {client}", colour, "5px,3px")
        _arrow(figure, tip, end, f"c<sub>{k + 1}</sub> − c, its correction", PURPLE, "2px,2px")
        _arrow(figure, at, end, f"the step that {client} takes", colour, "solid")
        plane.mark(figure, at, f"y<sub>{k + 1}</sub>", SYMBOLS[k % 2], colour)
        names = ("local gradient g", "correction c − c_k", "corrected gradient")
        vectors = (gradient[k], offset[k], gradient[k] + offset[k])
        rows += [[client, name, *plane.pair(vector)] for name, vector in zip(names, vectors, strict=True)]
    plane.mark(figure, clients.optimum, "optimum of F", "star", BLACK)
    angles = [_angle(vectors[0], vectors[1]) for vectors in (gradient, gradient + offset)]
    text = (
        f"Arrows in the plane after {rounds} rounds of SCAFFOLD, at local step {step}: the clients' own gradients are "
        f"{angles[0]:.0f}° apart, the corrected ones {angles[1]:.0f}°. The server is at ({w[0]:.3f}, {w[1]:.3f})."
    )
    set_description(figure, text, ["client", "arrow", "w₁", "w₂"], rows)
    return figure


def _arrow(figure: go.Figure, tail: np.ndarray, tip: np.ndarray, name: str, colour: str, dash: str) -> None:
    figure.add_scatter(
        x=[tail[0], tip[0]],
        y=[tail[1], tip[1]],
        name=name,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 3 if dash == "solid" else 2},
        marker={"symbol": "arrow", "angleref": "previous", "size": [0, 14], "color": colour, "opacity": 1},
    )


def _angle(u: np.ndarray, v: np.ndarray) -> float:
    """Degrees between two vectors; 0 if one of them vanishes."""
    lengths = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(np.degrees(np.arccos(np.clip(u @ v / lengths, -1, 1)))) if lengths > 0 else 0.0
