"""Explorer: SCAFFOLD's arrows, the local gradients and what the control variates make of them."""

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import INK, METHODS
from fedlab_core.plots.style import set_description
from fedlab_course.explore import quadratics as plane
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import COLOURS, SYMBOLS, A, B, Quadratics
from fedlab_course.explore.widgets import slider

CLIENTS = Quadratics(A, B)
START = np.array([-1.0, 1.5])
STEPS = 10
LR = 0.05
_DEGREES = 10  # of the goal


def corrections() -> Idea:
    """SCAFFOLD's arrows: the local gradient g_k, the correction c − c_k and their sum, all drawn
    downhill.

    Clients as in chapter 2; both take part in every round, with ten local steps at rate 0.05.
    Sliders: ``rounds``, how many are done, and ``step``, the local step of the next round that we
    look at. The goal is a place at which both clients step in one direction.
    """
    sliders = {
        "rounds": slider("rounds done", (0, 1, 2, 3, 5, 10), 1, "Rounds before this one"),
        "step": slider("local step", range(STEPS + 1), 0, "Where in the next round we look"),
    }
    text = f"find a step at which the two clients walk in one direction, to {_DEGREES}°"
    return Idea(_arrows, sliders, goal=Goal(text, _side_by_side))


def _side_by_side(rounds: int, step: int) -> bool:
    _, _, gradient, offset = _state(rounds, step)
    return _angle(*(gradient + offset)) <= _DEGREES


def scaffold_rounds(
    clients: Quadratics, start: np.ndarray, rounds: int, steps: int, lr: float
) -> tuple[np.ndarray, np.ndarray]:
    """w [D] and the corrections c − c_k [N, D] after ``rounds`` of SCAFFOLD (option 2) in which all
    take part.
    """
    w = start
    offset = np.zeros_like(clients.b)
    for _ in range(rounds):
        y = clients.walk(w, steps, lr, offset)[-1]
        controls = -offset + (w - y) / (steps * lr)
        w = y.mean(0)
        offset = controls.mean(0) - controls
    return w, offset


def _state(rounds: int, step: int) -> tuple[np.ndarray, ...]:
    """The server's w [D] after ``rounds``, and at the ``step`` the clients' y, gradients and c −
    c_k, all [N, D].
    """
    w, offset = scaffold_rounds(CLIENTS, START, rounds, STEPS, LR)
    here = CLIENTS.walk(w, step, LR, offset)[-1]
    return w, here, CLIENTS.gradient(here), offset


def _arrows(rounds: int, step: int) -> go.Figure:
    w, here, gradient, offset = _state(rounds, step)
    vectors = {
        "local gradient g": gradient,
        "correction c − c_k": offset,
        "corrected gradient": gradient + offset,
    }
    around = np.concatenate([CLIENTS.b, START[None]])
    figure = plane.contours(CLIENTS, around)
    # All arrows of a picture share one scale, so that the longest is about a third of the picture.
    longest = np.linalg.norm([*vectors.values()], axis=-1).max()
    scale = 0.4 * np.ptp(around, axis=0).max() / longest
    rows = []
    for k, at in enumerate(here):
        colour = COLOURS[k]
        client = f"client {k + 1}"
        tip = at - scale * gradient[k]
        end = at - scale * (gradient[k] + offset[k])
        _arrow(
            figure,
            at,
            tip,
            f"−g<sub>{k + 1}</sub>, the own gradient of {client}",
            colour,
            "5px,3px",
        )
        name = f"c<sub>{k + 1}</sub> − c, its correction"
        _arrow(figure, tip, end, name, METHODS["scaffold"], "2px,2px")
        _arrow(figure, at, end, f"the step that {client} takes", colour, "solid")
        plane.mark(figure, at, f"y<sub>{k + 1}</sub>", SYMBOLS[k], colour)
        rows += [[client, name, *plane.pair(vector[k])] for name, vector in vectors.items()]
    plane.mark(figure, CLIENTS.optimum, "optimum of F", "star", INK)
    text = (
        f"Arrows in the plane after {rounds} rounds of SCAFFOLD, at local step {step}: the "
        f"clients' own gradients are {_angle(*gradient):.0f}° apart, the corrected ones "
        f"{_angle(*(gradient + offset)):.0f}°. The server is at ({w[0]:.3f}, {w[1]:.3f})."
    )
    set_description(figure, text, ["client", "arrow", "w₁", "w₂"], rows)
    return figure


def _arrow(
    figure: go.Figure, tail: np.ndarray, tip: np.ndarray, name: str, colour: str, dash: str
) -> None:
    x, y = np.stack([tail, tip], axis=1)
    line = {"color": colour, "dash": dash, "width": 3 if dash == "solid" else 2}
    head = {
        "symbol": "arrow",
        "angleref": "previous",
        "size": [0, 14],
        "color": colour,
        "opacity": 1,
    }
    figure.add_scatter(x=x, y=y, name=name, mode="lines+markers", line=line, marker=head)


def _angle(u: np.ndarray, v: np.ndarray) -> float:
    """Degrees between two vectors."""
    cosine = u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
