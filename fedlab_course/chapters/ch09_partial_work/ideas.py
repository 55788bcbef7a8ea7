"""Explorers: where rules of averaging stop when one client does less and less."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, METHODS
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures, theory
from fedlab_course.check import own
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider_of

_ = translator(__name__)
Counted = Callable[[Any, float, float], Any]
_A = (2.0, 2.0)
_B = (0.0, 1.0)
_OPTIMUM = 0.5
_MOST = 10
STEPS = np.arange(_MOST, 0, -1)  # of the second client, from left to right
_NEAR = 0.02


def unequal_work() -> Idea:
    """Two clients (w − b_k)², b = (0, 1); the first makes ten local steps, the second from ten down
    to one.

    Sliders ``lr`` and ``mu``. The figure shows the resting points of FedAvg and FedProx, against
    the steps of the second client.
    """

    def draw(lr: float, mu: float) -> go.Figure:
        lines = {"FedAvg": (_stops(lr, 0.0, _once), INK)}
        if mu and _is_stable(lr, mu):
            lines[f"FedProx, μ = {mu:g}"] = (_stops(lr, mu, _once), METHODS["fedprox"])
        title = _("Client 1 makes ten steps, η = {lr:g}").format(lr=lr)
        return _figure(lines, _warned(title, lr, mu))

    wish = _("with two steps of client 2, bring FedAvg or FedProx within 0.02 of 0.5")
    goal = Goal(wish, lambda lr, mu: _is_near(lr, mu, _once))
    return Idea(draw, _sliders(), goal=goal)


def divided(counted_steps: Counted) -> Idea:
    """The same clients, with moves divided by τ_k, or by the reader's ``counted_steps(tau, eta,
    mu)``.

    Sliders ``lr`` and ``mu``. Without a proximal term the two are the same.
    """

    def draw(lr: float, mu: float) -> go.Figure:
        lines = {"FedNova, μ = 0": (_stops(lr, 0.0, counted_steps), METHODS["fednova"])}
        if mu and _is_stable(lr, mu):
            plain = _("μ = {mu:g}, divided by τ").format(mu=mu)
            counted = _("μ = {mu:g}, by counted steps").format(mu=mu)
            lines[plain] = (_stops(lr, mu, _steps), GROUPS[2])
            lines[counted] = (_stops(lr, mu, counted_steps), GROUPS[0])
        words = _("{setting}, {whose}")
        title = words.format(setting=_warned(f"η = {lr:g}", lr, mu), whose=own.whose(counted_steps))
        return _figure(lines, title)

    return Idea(draw, _sliders(mu=10.0))


def _sliders(**values: float) -> dict[str, Any]:
    return {
        "lr": slider_of("lr", "unequal work"),
        "mu": slider_of("mu", "unequal work", value=values.get("mu")),
    }


def _once(tau: Any, eta: float, mu: float) -> Any:
    """What FedAvg and FedProx divide a move by: nothing."""
    return np.ones(len(tau))


def _steps(tau: Any, eta: float, mu: float) -> Any:
    return tau


def stop(tau: Sequence[float], lr: float, mu: float, counted: Counted) -> float:
    """Where both clients' moves, divided by ``counted``, have the mean zero; ``tau``: their
    steps [2].
    """
    steps = np.asarray(tau, dtype=float)
    return theory.resting_point(_A, _B, steps, lr, mu, divisors=counted(steps, lr, mu))


def _stops(lr: float, mu: float, counted: Counted) -> list[float]:
    """Where they stop with each number of steps of the second client."""
    return [stop((_MOST, int(second)), lr, mu, counted) for second in STEPS]


def _is_near(lr: float, mu: float, counted: Counted) -> bool:
    pulls = [pull for pull in (0.0, mu) if _is_stable(lr, pull)]
    return any(abs(stop((_MOST, 2), lr, pull, counted) - _OPTIMUM) < _NEAR for pull in pulls)


def _is_stable(lr: float, mu: float) -> bool:
    """Whether local steps converge: η (a + μ) < 2."""
    return lr * (_A[0] + mu) < 2


def _warned(words: str, lr: float, mu: float) -> str:
    """``words``, and behind them that local steps do not converge if they do not."""
    if _is_stable(lr, mu):
        return words
    return _("{words}: μ = {mu:g} is unstable").format(words=words, mu=mu)


def _figure(lines: Mapping[str, tuple[list[float], str]], title: str) -> go.Figure:
    """Resting points against the steps of client 2, which fall from left to right."""
    x_title = _("steps of client 2, less work →")
    figure = new_figure(title=title, x_title=x_title, y_title=_("stops at"), legend=False)
    figure.update_xaxes(range=[_MOST + 0.2, 0.8], dtick=1)
    figure.update_yaxes(range=[-0.02, 1.02])
    ends = {_("optimum"): (1.0, _OPTIMUM)}
    colours = {_("optimum"): GREY}
    dashes = ("solid", "9px,3px", "4px,3px")
    rows = []
    for (name, (values, colour)), dash in zip(lines.items(), dashes, strict=False):
        line = {"color": colour, "width": 3, "dash": dash}
        figure.add_scatter(x=STEPS, y=values, name=name, mode="lines+markers", line=line)
        ends[name] = (1.0, values[-1])
        colours[name] = colour
        rows.append([name, *(f"{values[_MOST - tau]:.3f}" for tau in (10, 5, 2, 1))])
    dots = {"color": GREY, "dash": "dot", "width": 2}
    comparison_figures.add_level(figure, (_MOST, 1.0), _OPTIMUM, _("optimum"), dots)
    comparison_figures.name_ends(figure, ends, colours, 1.04)
    told = _("; ").join(
        _("{name}: {values}").format(name=name, values=_(", ").join(values))
        for name, *values in rows
    )
    text = _(
        "{title}. Resting points with 10, 5, 2 and 1 steps of client 2; the optimum is 0.5. {told}."
    ).format(title=title, told=told)
    set_description(figure, text, [_("rule"), _("10 steps"), "5", "2", "1"], rows)
    return figure
