"""Explorer: how near to the optimum a learning rate that falls leads, and how soon."""

import numpy as np
import plotly.graph_objects as go

from fedlab_course.chapters.ch10_bounds.figures import power_laws
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of
from fedlab_course.theory import fedavg_path

_A = (1.0, 3.0)
_B = (0.0, 1.0)
_OPTIMUM = 0.75
_STEPS = 10
_ROUNDS = 3000
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_LEAST = 1e-12  # what rounding leaves of a distance


def decay(*, power: float = 0.0, goal: Goal | None = None) -> Idea:
    """The distance of FedAvg from the optimum, round by round, at η_t = η_0/(1 + t)^p, with exact
    gradients.

    Two clients a_k/2 (w − b_k)² with a = (1, 3) and b = (0, 1) make ten local steps in each of 3000
    rounds, from w = 0. Sliders ``lr`` η_0 and ``power`` p. Behind it the run at the constant rate
    η_0.
    """
    shown = np.unique(np.geomspace(1, _ROUNDS, 40).round().astype(int))

    def distance(lr: float, power: float) -> np.ndarray:
        rates = lr / (1 + np.arange(_ROUNDS)) ** power
        return np.maximum(abs(fedavg_path(_A, _B, rates, _STEPS) - _OPTIMUM), _LEAST)[shown]

    def draw(lr: float, power: float) -> go.Figure:
        falling = f"η = {lr:g}/(1 + t)^{power:g}"
        constant = f"constant η = {lr:g}"
        curves = {falling: (shown, distance(lr, power)), constant: (shown, distance(lr, 0.0))}
        figure = power_laws(
            curves, bounds=[constant], x_title="round", y_title="distance from the optimum"
        )
        figure.update_yaxes(range=[-5.2, 0.1])
        return prefixed(figure, f"FedAvg with {_STEPS} local steps.")

    sliders = {
        "lr": slider_of("lr", "falling"),
        "power": slider("exponent p", _POWERS, power, "How fast the rate falls; 0 is constant"),
    }
    return Idea(draw, sliders, goal=goal)
