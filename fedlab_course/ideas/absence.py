"""Explorer: where clients that are away lead."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from fedlab_course import figures, theory
from fedlab_course.chart import ladder
from fedlab_course.goals import Goal
from fedlab_course.ideas.idea import Idea

PRESENCES = np.linspace(0.02, 1, 50).tolist()
_DELTA = 0.1
_SIZES, _LAST = (2, 3, 5, 10, 20), (1.0, 3.0, 7.0, 14.0)


def absence(
    *,
    size: int = 10,
    last: float = 7.0,
    marks: Mapping[str, tuple[float, float]] | None = None,
    goal: Goal | None = None,
    live: bool | None = None,
) -> Idea:
    """Resting points of Example 1 of [004] against the presence of its last group. Sliders ``size`` and ``last``.

    Four groups of ``size`` clients want 0, 1, 2 and ``last``; those of the last are there with a probability, and four
    clients are drawn. ``marks``: runs to draw beside the formulas, as :func:`fedlab_course.figures.rests_by_presence`
    takes them.
    """

    def draw(size: int, last: float) -> go.Figure:
        group = theory.AbsentGroup(size, (0.0, 1.0, 2.0, last))
        ways = {
            "FedAvg": group.fedavg,
            "Hájek": group.hajek,
            "Horvitz–Thompson": group.horvitz_thompson,
            "FedSSO, one of each": group.one_of_each,
        }
        lines = {name: [way(p) for p in PRESENCES] for name, way in ways.items()}
        figure = figures.rests_by_presence(PRESENCES, lines, optimum=group.optimum, band=_DELTA, marks=marks)
        meta = figure.layout.meta
        return figure.update_layout(meta=meta | {"alt": f"Groups of {size}, the last at {last:g}. {meta['alt']}"})

    sliders = {
        "size": ladder("clients in a group", _SIZES, size, "All four groups are as large"),
        "last": ladder("mean of the last group", _LAST, last, "The others want 0, 1 and 2"),
    }
    return Idea(draw, sliders, goal=goal, live=live)
