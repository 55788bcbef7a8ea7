"""Explorer: where clients that are away lead."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import theory
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

# of the curves, and in the table
_PRESENCES = np.linspace(0.02, 1, 50)
_READ = (0.1, 0.4, 1.0)
_DELTA = 0.1
_GROUPS = (2, 3, 5, 10, 20)
_LAST = (1.0, 3.0, 7.0, 14.0)


def absence(
    *, marks: Mapping[str, tuple[float, float]] | None = None, goal: Goal | None = None
) -> Idea:
    """Where methods stop in Example 1 of [004] against the presence of its last group. Sliders
    ``size`` and ``last``.

    Four groups of ``size`` clients want 0, 1, 2 and ``last``; those of the last are there with a
    probability, and four clients are drawn. A grey band is within 0.1 of the optimum. ``marks``:
    method → its presence and where it ended on average, to be drawn beside the formulas.
    """
    sliders = {
        "size": slider(
            "clients in a group", _GROUPS, 10, "All four groups are as large", moving=False
        ),
        "last": slider(
            "mean of the last group", _LAST, 7.0, "The others want 0, 1 and 2", moving=False
        ),
    }
    return Idea(lambda size, last: _resting_points(size, last, marks or {}), sliders, goal=goal)


def _resting_points(size: int, last: float, marks: Mapping[str, tuple[float, float]]) -> go.Figure:
    group = theory.AbsentGroup(size, (0.0, 1.0, 2.0, last))
    ways = {
        "FedAvg": group.fedavg,
        "Hájek": group.hajek,
        "Horvitz–Thompson": group.horvitz_thompson,
        "FedSSO, one of each": group.one_of_each,
    }
    optimum = group.optimum
    dots = {"color": GREY, "width": 1, "dash": "dot"}
    figure = new_figure(
        title=None, x_title="presence of the last group", y_title="stops at", height=480
    )
    figure.add_hrect(
        y0=optimum - _DELTA, y1=optimum + _DELTA, fillcolor=GREY, opacity=0.15, line_width=0
    )
    figure.add_hline(
        y=optimum, line=dots, annotation_text="optimum", annotation_position="top left"
    )
    styles = looks({name: name for name in (*ways, *marks)})
    rows = []
    for way, resting_point in ways.items():
        name = f"{way}, formula"
        points = [resting_point(presence) for presence in _PRESENCES]
        add_curve(figure, _PRESENCES, points, name, styles[way], mode="lines", width=2.5)
        rows.append([name, *(f"{resting_point(presence):.3f}" for presence in _READ)])
    for way, (presence, end) in marks.items():
        rows.append(_add_stored(figure, way, presence, end, styles[way]))
    said = "; ".join(f"{row[0]} {', '.join(filter(None, row[1:]))}" for row in rows)
    alt = (
        f"Groups of {size}, the last at {last:g}. Resting points at presence 0.1, 0.4 and 1; the "
        f"optimum is {optimum:g}, the band ±{_DELTA:g} about it: {said}."
    )
    set_description(figure, alt, ["way", *(f"presence {at:g}" for at in _READ)], rows)
    return figure


def _add_stored(figure: go.Figure, way: str, presence: float, end: float, style: Look) -> list[str]:
    """Add the mean end of stored runs of a method. Return its row of the table, which is empty but
    for its presence.
    """
    marker = {"size": 12, "symbol": style.marker, "color": style.colour}
    figure.add_scatter(
        x=[presence], y=[end], name=f"{way}, mean of stored runs", mode="markers", marker=marker
    )
    ends = [f"{end:.3f}" if shown == presence else "" for shown in _READ]
    return [f"{way}, mean of stored runs at {presence:g}", *ends]
