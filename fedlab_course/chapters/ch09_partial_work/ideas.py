"""Explorer: where rules of averaging come to rest when one client does less and less."""

import plotly.graph_objects as go

from fedlab_course import theory
from fedlab_course.explore.figures import resting_points
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider_of

_A = (2.0, 2.0)
_B = (0.0, 1.0)
_MOST = 10


def unequal_work(*, goal: Goal | None = None) -> Idea:
    """Two clients (w − b_k)², b = (0, 1); the first makes ten local steps, the second from one to
    ten.

    Sliders ``lr`` and ``mu``. The figure shows the resting points of FedAvg, FedProx, FedNova, and
    FedNova with a proximal term, against the steps of the second client.
    """
    sliders = {
        "lr": slider_of("lr", "unequal work"),
        "mu": slider_of("mu", "unequal work"),
    }
    return Idea(_figure, sliders, goal=goal)


def _figure(lr: float, mu: float) -> go.Figure:
    steps = list(range(1, _MOST + 1))
    rules = {"FedAvg": (0.0, False), "FedNova": (0.0, True)}
    if mu:
        rules |= {f"FedProx μ={mu:g}": (mu, False), f"FedNova μ={mu:g}": (mu, True)}
    lines = {}
    for name, (pull, nova) in rules.items():
        points = [
            theory.resting_point(_A, _B, [_MOST, tau], lr, pull, normalised=nova) for tau in steps
        ]
        lines[name] = (steps, points)
    return resting_points(lines, optimum=0.5, x_title="steps of client 2")
