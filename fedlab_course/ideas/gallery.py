"""Explorer over figures that were made before: one of them, chosen by a slider."""

from collections.abc import Mapping

import plotly.graph_objects as go

from fedlab_course.chart import ladder
from fedlab_course.goals import Goal
from fedlab_course.ideas.idea import Idea


def gallery(
    figures: Mapping[float, go.Figure],
    label: str,
    *,
    value: float | None = None,
    goal: Goal | None = None,
    live: bool | None = None,
) -> Idea:
    """One of several figures by number, for example one per λ. Slider ``value``, named ``label``.

    Raises ``ValueError`` for an empty mapping, or a ``value`` that has no figure.
    """
    if not figures:
        raise ValueError("figures: must hold at least one figure")

    def draw(value: float) -> go.Figure:
        if value not in figures:
            raise ValueError(f"value={value:g}: must be one of {', '.join(f'{key:g}' for key in sorted(figures))}")
        return go.Figure(figures[value])

    first = min(figures) if value is None else value
    return Idea(draw, {"value": ladder(label, figures, first, label, continuous=True)}, goal=goal, live=live)
