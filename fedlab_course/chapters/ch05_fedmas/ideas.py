"""The stiff steps of a penalty, of one parameter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import group_look, new_figure, set_description
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea, gallery

_ = translator(__name__)

_STEPS = 7  # that of the explicit step
ETA = 0.1
STEPS = 20
MINIMUM = 3.0  # of the loss, whose curvature is 1
LocalUpdate = Callable[..., Any]


def explicit_update(
    w: Any, k: int, gradient: Any, eta: float, steps: int, strength: float, importance: Any
) -> Any:
    """The parameters of client k after local steps whose penalty λ Σ Ω (y − w)² pulls with the y
    before the step.
    """
    y = w
    for _ in range(steps):
        y = y - eta * (gradient(k, y) + 2 * strength * importance * (y - w))
    return y


def implicit_update(
    w: Any, k: int, gradient: Any, eta: float, steps: int, strength: float, importance: Any
) -> Any:
    """The parameters of client k after local steps whose penalty λ Σ Ω (y − w)² pulls with the y
    after the step.
    """
    y = w
    pull = 2 * eta * strength * importance
    for _ in range(steps):
        y = (y - eta * gradient(k, y) + pull * w) / (1 + pull)
    return y


def stiff(
    explicit: LocalUpdate = explicit_update,
    implicit: LocalUpdate = implicit_update,
    *,
    goal: Goal | None = None,
) -> Idea:
    """One parameter under a strong penalty, step by step. Slider ``value``: λ.

    Both functions have the parameters (w, k, gradient, eta, steps, strength, importance). The loss
    is ½ (y − 3)², w = 0, Ω = 1 and η = 0.1, so that explicit steps are stable for λ < 9.5.
    """
    strengths = (0.5, 2, 5, 8, 9, 9.5, 10, 12, 30)
    figures = {value: _steps(value, explicit, implicit) for value in strengths}
    return gallery(figures, _("λ of the penalty"), goal=goal)


def rests(strength: float) -> float:
    """Where ½ (y − 3)² + λ y² is least."""
    return MINIMUM / (1 + 2 * strength)


def walked(update: LocalUpdate, strength: float) -> np.ndarray:
    """y after 0, 1, … steps of ``update``."""

    def gradient(k: int, y: np.ndarray) -> np.ndarray:
        return y - MINIMUM

    w = np.zeros(1)
    given = (w, 0, gradient, ETA)
    ends = [update(*given, steps, strength, np.ones(1)) for steps in range(STEPS + 1)]
    return np.array(ends, dtype=float).reshape(-1)


def _steps(strength: float, explicit: LocalUpdate, implicit: LocalUpdate) -> go.Figure:
    figure = new_figure(title=None, x_title=_("local step"), y_title="y")
    figure.add_hline(y=rests(strength), line={"color": GREY, "width": 2, "dash": "dot"})
    rows = []
    kinds = ((_("explicit"), explicit), (_("implicit"), implicit))
    for number, (name, update) in enumerate(kinds):
        way = walked(update, strength)
        curve = _("{name} step").format(name=name)
        add_curve(figure, np.arange(len(way)), way, curve, group_look(_STEPS + number))
        rows.append([name, f"{way[1]:.3g}", f"{way[-1]:.3g}"])
    figure.update_yaxes(range=[-1.5, 2.0])
    factor = 2 * ETA * strength
    words = _("η · 2λΩ = {factor:.2g}; the dotted line is where both should rest").format(
        factor=factor
    )
    figure.update_layout(title={"text": words, "font": {"size": 14}})
    text = _("One parameter over {steps} local steps at λ={strength:g}. {words}.").format(
        steps=STEPS, strength=strength, words=words
    )
    set_description(figure, text, [_("step"), _("y after 1"), _("y at the end")], rows)
    return figure
