"""Explorer: how FedProx's pull holds clients between their own minima and the global model."""

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, INK, METHODS
from fedlab_core.plots.style import set_description
from fedlab_course.explore import quadratics as plane
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import COLOURS, SYMBOLS, A, B, Quadratics
from fedlab_course.explore.widgets import slider_of

CLIENTS = Quadratics(A, B)


def proximal(*, goal: Goal | None = None) -> Idea:
    """FedProx's pull: clients solve f_k(y) + μ/2 ‖y − w‖² exactly, and the server takes the mean
    until it rests.

    Slider ``mu``. The figure shows the resting point w, the clients' answers between their own
    minima and w, and the way that the resting point takes as μ grows.
    """
    return Idea(_figure, {"mu": slider_of("mu", "quadratics")}, goal=goal)


def off(mu: float) -> float:
    """The distance from where FedProx stops to the optimum."""
    return float(np.linalg.norm(_rests(mu) - CLIENTS.optimum))


def _rests(mu: float) -> np.ndarray:
    """w = Σ s_k b_k / Σ s_k, where w is the mean of the answers (1 − s_k) w + s_k b_k, with s_k =
    a_k/(a_k + μ).
    """
    part = CLIENTS.a / (CLIENTS.a + mu)
    return (part * CLIENTS.b).sum(0) / part.sum(0)


def _figure(mu: float) -> go.Figure:
    w = _rests(mu)
    answers = CLIENTS.nearest(w, mu)
    way = np.stack([_rests(strength) for strength in (0.0, *np.geomspace(0.02, 300, 60))])
    figure = plane.contours(CLIENTS, np.concatenate([CLIENTS.b, way]))
    plane.line(figure, way, "resting point as μ grows", GREY, "1.5px,4px")
    for k, (colour, symbol) in enumerate(zip(COLOURS, SYMBOLS, strict=True)):
        plane.line(
            figure,
            np.stack([w, answers[k]]),
            f"from w to the answer of client {k + 1}",
            colour,
            "solid",
        )
        plane.mark(figure, answers[k], f"answer of client {k + 1}", symbol, colour)
        plane.mark(
            figure, CLIENTS.b[k], f"its own minimum b<sub>{k + 1}</sub>", f"{symbol}-open", colour
        )
    plane.mark(figure, CLIENTS.optimum, "optimum of F", "star", INK)
    plane.mark(figure, w, "FedProx stops at w", "x", METHODS["fedprox"])
    apart, own = (float(np.linalg.norm(u - v)) for u, v in (answers, CLIENTS.b))
    text = (
        f"Contours of F in the plane. At μ={mu:g} FedProx stops at ({w[0]:.3f}, {w[1]:.3f}), "
        f"{off(mu):.3f} from the optimum; the clients' answers are {apart:.3f} apart, their minima "
        f"{own:.3f}."
    )
    points = {"w, where FedProx stops": w, "optimum of F": CLIENTS.optimum}
    points |= {f"answer of client {k + 1}": answer for k, answer in enumerate(answers)}
    set_description(
        figure,
        text,
        ["point", "w₁", "w₂"],
        [[name, *plane.pair(at)] for name, at in points.items()],
    )
    return figure
