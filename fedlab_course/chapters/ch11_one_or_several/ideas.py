"""Explorer: how strongly a client's own answer should be drawn to the mean of all."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of
from fedlab_course.theory import ditto_error

_ = translator(__name__)

_SPREADS = (0.1, 0.25, 1.0, 4.0)
_CHANCE = 1.0
_ENOUGH = 1.05
_GOAL_SPREAD = 0.25
# Eight clients: where their true optima lie, and what chance adds to what they know. Both have the
# mean 0 and are orthogonal; both are scaled to the mean square 1. So the errors of the eight have
# exactly the mean that the formula gives for many clients.
_TRUE = np.array([-1.5, -1.1, -0.7, -0.2, 0.2, 0.7, 1.1, 1.5])
_LUCK = np.array([0.8, -1.4, 1.2, -0.6, -0.6, 1.2, -1.4, 0.8])
_REACH = 4.6
_SCENE = 0.38  # where the scene begins, as a share of the height
_BARS = 0.2  # where the bars end
_PARTS = (GROUPS[0], GROUPS[2])  # chance, pull


class Eight(NamedTuple):
    """What eight clients need, know and use, each [8]."""

    needed: np.ndarray
    known: np.ndarray
    used: np.ndarray


def scene(strength: float, spread: float) -> Eight:
    """Eight clients whose optima have the variance ``spread`` V, and the variance 1 by chance; the
    mean of all that they know is 0.
    """
    needed = np.sqrt(spread) * _TRUE / np.sqrt(np.mean(_TRUE**2))
    known = needed + np.sqrt(_CHANCE) * _LUCK / np.sqrt(np.mean(_LUCK**2))
    return Eight(needed, known, known / (1 + strength))


def personal() -> Idea:
    """Eight clients, each pulled from its own answer towards the mean of all, and the error of what
    they use, in two parts.

    Sliders ``strength`` λ, and ``spread`` V, the variance between the clients' true optima. What a
    client knows of its own has the variance ν = 1. The goal is a λ within 5 % of the least error at
    V = 0.25.
    """
    sliders = {
        "strength": slider_of("strength", "ditto", value=0.0),
        "spread": slider(
            _("V between clients"), _SPREADS, 1.0, _("Variance of the clients' optima")
        ),
    }
    text = _("with V = {spread:g}, find a λ whose error is at most 5 % above the least")
    return Idea(_figure, sliders, goal=Goal(text.format(spread=_GOAL_SPREAD), _reached))


def _reached(strength: float, spread: float) -> bool:
    here, least = (sum(ditto_error(at, _CHANCE, spread)) for at in (strength, _CHANCE / spread))
    return spread == _GOAL_SPREAD and bool(here <= _ENOUGH * least)


def _figure(strength: float, spread: float) -> go.Figure:
    now = scene(strength, spread)
    parts = ditto_error(strength, _CHANCE, spread)
    title = _("λ = {strength:g}, V = {spread:g}: mean squared error {error:.2f}")
    figure = new_figure(
        title=title.format(strength=strength, spread=spread, error=sum(parts)),
        x_title="",
        y_title=_("client"),
        height=560,
        legend=True,
    )
    _add_clients(figure, now)
    _add_bar(figure, dict(zip((_("chance"), _("pull")), map(float, parts), strict=True)))
    figure.update_layout(
        xaxis={
            "range": [-_REACH, _REACH],
            "title": _("answer; dotted: the mean of all"),
            "anchor": "y",
        },
        yaxis={"domain": [_SCENE, 1], "range": [0.3, 8.7], "dtick": 1, "showgrid": False},
        xaxis2={"range": [0, 4.2], "anchor": "y2", "title": _("mean squared error")},
        yaxis2={
            "domain": [0, _BARS],
            "anchor": "x2",
            "showticklabels": False,
            "ticks": "",
            "range": [-1, 1],
        },
        barmode="stack",
    )
    _describe(figure, strength, spread, parts)
    return figure


def _describe(
    figure: go.Figure, strength: float, spread: float, parts: tuple[float, float]
) -> None:
    now = scene(strength, spread)
    rows = [
        [number, *(f"{value:.2f}" for value in (*client, client[2] - client[0]))]
        for number, client in enumerate(zip(*now, strict=True), start=1)
    ]
    text = _(
        "Eight clients, λ = {strength:g}, V = {spread:g}. A star is what a client needs, a circle "
        "what its few samples tell, and a diamond what it uses, between the circle and the mean "
        "of all. The mean squared error is {error:.3f}: {chance:.3f} by chance and {pull:.3f} by "
        "the pull."
    ).format(strength=strength, spread=spread, error=sum(parts), chance=parts[0], pull=parts[1])
    columns = [_("client"), _("needs"), _("knows"), _("uses"), _("error")]
    set_description(figure, text, columns, rows)


def _add_clients(figure: go.Figure, now: Eight) -> None:
    """Add what each client needs, knows and uses; a line from what it uses to what it needs."""
    places = list(range(1, len(now.needed) + 1))
    gaps_x = [value for pair in zip(now.used, now.needed, strict=True) for value in (*pair, None)]
    gaps_y = [value for place in places for value in (place, place, None)]
    line = {"color": GREY, "width": 3}
    figure.add_scatter(x=gaps_x, y=gaps_y, mode="lines", name=_("error"), line=line)
    for name, x, marker in (
        (_("needs"), now.needed, {"symbol": "star", "size": 12, "color": INK}),
        (
            _("knows"),
            now.known,
            {"symbol": "circle-open", "size": 17, "color": GROUPS[0], "line": {"width": 2}},
        ),
        (_("uses"), now.used, {"symbol": "diamond", "size": 10, "color": GROUPS[0]}),
    ):
        figure.add_scatter(x=x, y=places, mode="markers", name=name, marker=marker)
    figure.add_vline(x=0, line={"color": GREY, "width": 2, "dash": "dot"})


def _add_bar(figure: go.Figure, parts: dict[str, float]) -> None:
    """Add the two parts of the error as one bar, each with its name and its size."""
    start = 0.0
    for (name, size), colour, shift in zip(parts.items(), _PARTS, (1, -1), strict=True):
        figure.add_bar(
            x=[size],
            y=[""],
            width=0.6,
            orientation="h",
            marker={"color": colour, "pattern": {"shape": "" if shift > 0 else "/"}},
            showlegend=False,
            hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>",
            xaxis="x2",
            yaxis="y2",
        )
        figure.add_annotation(
            x=min(start, 3.4),
            y=0,
            xref="x2",
            yref="y2",
            xanchor="left",
            yshift=26 * shift,
            text=f"{name} {size:.2f}",
            font={"color": colour},
            bgcolor=rgba(PAPER, 0.8),
            showarrow=False,
        )
        start += size
