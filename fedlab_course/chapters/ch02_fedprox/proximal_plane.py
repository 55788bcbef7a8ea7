"""Two clients in the plane under the reader's local step, beside a wrong one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import METHODS
from fedlab_course.check import own
from fedlab_course.explore import planes
from fedlab_course.explore.quadratics import START, gradient

_ = translator(__name__)

LocalUpdate = Callable[..., Any]
STEPS = 10
RATE = 0.05
ROUNDS = (1, 2, 3, 5, 10, 20, 50)
_FAR = 1e6  # a path further away than this is not followed


def path(update: LocalUpdate, mu: float, rounds: int) -> np.ndarray:
    """w before the first round and after each round [rounds + 1, 2]; shorter if w runs away."""
    points = [START]
    for _round in range(rounds):
        if np.abs(points[-1]).max() > _FAR:
            break
        ends = [update(points[-1], k, gradient, RATE, STEPS, mu) for k in (0, 1)]
        points.append(np.mean(ends, axis=0))
    return np.array(points)


def local_steps(update: LocalUpdate, w: np.ndarray, mu: float) -> np.ndarray:
    """y_k after 0, 1, … local steps from w [STEPS + 1, 2 clients, 2]."""
    ends = []
    for steps in range(STEPS + 1):
        ends.append([update(w, k, gradient, RATE, steps, mu) for k in (0, 1)])
    return np.array(ends)


def off(update: LocalUpdate, mu: float, rounds: int) -> float:
    """The distance of w from the optimum after so many rounds."""
    return planes.distance(path(update, mu, rounds)[-1])


def draw(update: LocalUpdate, wrong: LocalUpdate, mu: float, round: int) -> go.Figure:
    """The local steps of a round and the path of w up to it, with both local steps side by side."""
    titles = {_("y − w: it pulls back"): update, _("w − y: it pushes away"): wrong}
    both = []
    for title, one in titles.items():
        way = path(one, mu, round)
        steps = local_steps(one, way[max(0, len(way) - 2)], mu)
        both.append(planes.Plane(title, steps, way, METHODS["fedprox"]))
    words = _("μ = {mu:g}, round {round}, {whose}")
    title = words.format(mu=mu, round=round, whose=own.whose(update))
    return planes.side_by_side(both, title=title)
