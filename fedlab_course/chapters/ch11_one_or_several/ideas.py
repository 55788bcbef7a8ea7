"""Explorer: how strongly a client's own model should be drawn to that of all."""

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of
from fedlab_course.theory import ditto_error

_SPREADS = (0.05, 0.25, 1.0, 4.0)
_CHANCE = 1.0
_ENOUGH = 1.05
_LEFT = 0.03  # where λ = 0 stands on a logarithmic axis
_GOAL_SPREAD = 0.25


def personal() -> Idea:
    """Ditto's error on quadratics against λ, with many clients: what chance adds, what the pull
    adds, and their sum.

    Sliders ``strength`` λ, and ``spread`` V, the variance between the clients' true optima. What a
    client knows of its own has the variance ν = 1. The goal is a λ within 5 % of the least error at
    V = 0.25.
    """
    sliders = {
        "strength": slider_of("strength", "ditto"),
        "spread": slider("V between clients", _SPREADS, 1.0, "Variance of the clients' optima"),
    }
    text = f"with V = {_GOAL_SPREAD:g}, find a λ whose error is at most 5 % above the least"
    return Idea(_figure, sliders, goal=Goal(text, _reached))


def _reached(strength: float, spread: float) -> bool:
    here, least = (sum(ditto_error(at, _CHANCE, spread)) for at in (strength, _CHANCE / spread))
    return spread == _GOAL_SPREAD and bool(here <= _ENOUGH * least)


def _figure(strength: float, spread: float) -> go.Figure:
    grid = np.geomspace(_LEFT, 200, 120)
    chance, pull = ditto_error(grid, _CHANCE, spread)
    figure = new_figure(title=None, x_title="λ of Ditto", y_title="mean squared error")
    for name, values, colour, dash in (
        ("chance: few samples of one's own", chance, GROUPS[0], "9px,3px"),
        ("pull: the others want something else", pull, GROUPS[2], "5px,2px,1px,2px"),
        ("both", chance + pull, INK, "solid"),
    ):
        figure.add_scatter(
            x=grid,
            y=values,
            name=name,
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2},
        )
    best = _CHANCE / spread
    rows = []
    for name, place in {"λ here": strength, "best λ": best, "alone": 0.0}.items():
        parts = ditto_error(place, _CHANCE, spread)
        rows.append([name, place, *(f"{part:.3f}" for part in (*parts, sum(parts)))])
    here = {"color": INK, "symbol": "diamond", "size": 13}
    x = [max(strength, _LEFT)]
    y = [sum(ditto_error(strength, _CHANCE, spread))]
    figure.add_scatter(x=x, y=y, name=f"λ = {strength:g}", mode="markers", marker=here)
    ticks = [_LEFT, 0.1, 1, 10, 100]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=["0 (alone)", "0.1", "1", "10", "100"])
    figure.update_yaxes(range=[0, 1.1 * max(_CHANCE, min(spread, 2.0))])
    text = (
        f"Error of Ditto against λ, clients with a variance of {spread:g} between them and of 1 by "
        f"chance. At λ = {strength:g} it is {rows[0][-1]}; the least is {rows[1][-1]} at λ = "
        f"{best:g}, alone {_CHANCE:g}, one model for all {spread:g}."
    )
    set_description(figure, text, ["", "λ", "by chance", "by the pull", "error"], rows)
    return figure
