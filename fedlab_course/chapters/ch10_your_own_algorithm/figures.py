"""The one parameter of a quadratic problem, round by round, beside its optimum."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import looks, new_figure, set_description
from fedlab_course.explore.figures import add_curve

_ROWS = 6  # of the table in words


def paths(values: Mapping[str, Sequence[float]], optimum: float, *, title: str | None = None) -> go.Figure:
    """w against rounds, one line per name, which begins with that of its algorithm, and a dotted line at ``optimum``.

    ``values``: name → w after each round [R].

    Raises ``ValueError`` for an empty mapping and for a name without rounds.
    """
    series = {str(name): np.asarray(one, dtype=float) for name, one in values.items()}
    if not series or not all(len(one) for one in series.values()):
        raise ValueError("values: must hold at least one name, each with w after one round or more")
    figure = new_figure(title=title, x_title="communication round", y_title="w")
    for name, look in looks({name: name for name in series}).items():
        one = series[name]
        add_curve(figure, np.arange(1, len(one) + 1), one, name, look, width=None, marker_maxdisplayed=9)
    label = {"annotation_text": f"optimum {optimum:g}", "annotation_position": "bottom right"}
    figure.add_hline(y=optimum, line_dash="dot", **label)
    ends = "; ".join(f"{name} at {one[-1]:.4f}" for name, one in series.items())
    shown = np.unique(np.linspace(1, max(map(len, series.values())), _ROWS).round().astype(int))
    rows = [[int(t), *(f"{one[t - 1]:.4f}" if t <= len(one) else "" for one in series.values())] for t in shown]
    text = f"Line chart of w against rounds. The optimum is {optimum:g}. At the end: {ends}."
    set_description(figure, text, ["round", *series], rows)
    return figure
