"""Explorer: how FedProx's pull holds clients between their own minima and the global model."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREEN, GREY, set_description
from fedlab_course.explore import quadratics as plane
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import COLOURS, SYMBOLS, A, B, Points, Quadratics, rest
from fedlab_course.explore.sliders import Slider

_MU = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def proximal(a: Points = A, b: Points = B, *, mu: float = 1.0, **options: Any) -> Idea:
    """FedProx's pull: clients solve f_k(y) + μ/2 ‖y − w‖² exactly, and the server takes the mean until it rests.

    Clients f_k(w) = ½ Σ_d a_kd (w_d − b_kd)², ``a`` and ``b`` [2, 2]. Slider ``mu``. The figure shows the resting point
    w, the clients' answers between their own minima and w, and the way that the resting point takes as μ grows.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    clients = Quadratics.of(a, b)
    sliders = {"mu": Slider.over("μ of FedProx", _MU, mu, "Proximal strength")}
    return Idea(lambda mu: _figure(clients, mu), sliders, **options)


def _figure(clients: Quadratics, mu: float) -> go.Figure:
    def rests(strength: float) -> np.ndarray:
        return rest(lambda w: clients.nearest(w, strength).mean(0), 2)

    w = rests(mu)
    answers = clients.nearest(w, mu)
    way = np.stack([rests(strength) for strength in (0.0, *np.geomspace(0.02, 300, 60))])
    figure = plane.contours(clients, np.concatenate([clients.b, way]))
    plane.line(figure, way, "resting point as μ grows", GREY, "1.5px,4px")
    for k, (answer, minimum) in enumerate(zip(answers, clients.b, strict=True)):
        colour, symbol = COLOURS[k % 2], SYMBOLS[k % 2]
        plane.line(figure, np.stack([w, answer]), f"from w to the answer of client {k + 1}", colour, "solid")
        plane.mark(figure, answer, f"answer of client {k + 1}", symbol, colour)
        plane.mark(figure, minimum, f"its own minimum b<sub>{k + 1}</sub>", f"{symbol}-open", colour)
    plane.mark(figure, clients.optimum, "optimum of F", "star", BLACK)
    plane.mark(figure, w, "FedProx rests at w", "x", GREEN)
    off, apart, own = (float(np.linalg.norm(u - v)) for u, v in ((w, clients.optimum), answers, clients.b))
    text = (
        f"Contours of F in the plane. At μ={mu:g} FedProx rests at ({w[0]:.3f}, {w[1]:.3f}), {off:.3f} from the "
        f"optimum; the clients' answers are {apart:.3f} apart, their minima {own:.3f}."
    )
    points = {"w, where FedProx rests": w, "optimum of F": clients.optimum}
    points |= {f"answer of client {k + 1}": answer for k, answer in enumerate(answers)}
    set_description(figure, text, ["point", "w₁", "w₂"], [[name, *plane.pair(at)] for name, at in points.items()])
    return figure
