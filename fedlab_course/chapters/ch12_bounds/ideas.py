"""Explorer: how near to the optimum a learning rate that falls leads, and how soon."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import set_description
from fedlab_course.chapters.ch12_bounds.figures import power_laws
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import Quadratics
from fedlab_course.explore.sliders import Slider
from fedlab_course.theory import fedavg_path

_POWERS, _RATES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0), (0.01, 0.03, 0.1, 0.3)
_LEAST = 1e-12  # what rounding leaves of a distance


def decay(
    a: Sequence[float] = (1.0, 3.0),
    b: Sequence[float] = (0.0, 1.0),
    *,
    steps: int = 10,
    lr: float = 0.1,
    power: float = 0.0,
    rounds: int = 3000,
    **options: Any,
) -> Idea:
    """The distance of FedAvg from the optimum, round by round, at η_t = η_0/(1 + t)^p, with exact gradients.

    Two clients f_k(w) = a_k/2 (w − b_k)² make ``steps`` local steps in each of ``rounds`` rounds, from w = 0. Sliders
    ``lr`` η_0 and ``power`` p. Behind it the run at the constant rate η_0.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    clients = Quadratics.of(a, b)
    optimum = float(clients.optimum[0])
    shown = np.unique(np.geomspace(1, rounds, 40).round().astype(int))

    def distance(lr: float, power: float) -> np.ndarray:
        rates = lr / (1 + np.arange(rounds)) ** power
        return np.maximum(abs(fedavg_path(a, b, rates, steps) - optimum), _LEAST)[shown]

    def draw(lr: float, power: float) -> go.Figure:
        run = distance(lr, power)
        curves = {f"η<sub>t</sub> = {lr:g}/(1 + t)<sup>{power:g}</sup>": (shown, run)}
        constant = f"constant η = {lr:g}"
        curves[constant] = (shown, distance(lr, 0.0))
        figure = power_laws(curves, bounds=[constant], x_title="round", y_title="distance from the optimum")
        figure.update_yaxes(range=[-5.2, 0.1])
        rows = [[int(t), f"{one:.3g}"] for t, one in zip(shown, run, strict=True) if t in shown[::6] or t == rounds]
        text = (
            f"Distance of FedAvg from the optimum by round, both axes logarithmic, {steps} local steps, rates "
            f"{lr:g}/(1 + t)^{power:g}: {run[-1]:.2g} after {rounds} rounds; {distance(lr, 0.0)[-1]:.2g} at the "
            f"constant rate {lr:g}."
        )
        set_description(figure, text, ["round", "distance"], rows)
        return figure

    sliders = {
        "lr": Slider.over("first rate η₀", _RATES, lr, "Step size in the first round"),
        "power": Slider.over("exponent p", _POWERS, power, "How fast the rate falls; 0 is constant"),
    }
    return Idea(draw, sliders, **options)
