"""The figure of what is left of a tier's label while the next tiers train."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course.chapters.ch05_fedmas.chosen import LOOKS, full_name
from fedlab_course.explore.figures import add_curve
from fedlab_course.methods.forgotten import AFTER, Followed, kept

_ = translator(__name__)

_OF_ONE_RUN: dict[str, Any] = {
    "mode": "lines",
    "width": 1,
    "opacity": 0.4,
    "hoverinfo": "skip",
    "showlegend": False,
}


def forgotten(runs: Mapping[str, Sequence[Followed]]) -> go.Figure:
    """:func:`kept` of each method: a thin line for each run, and their mean.

    ``runs``: key of ``CHOSEN`` → runs.
    """
    figure = new_figure(
        title=_("What is left of a tier's label"),
        x_title=_("updates since the tier trained"),
        y_title=_("accuracy on its label"),
    )
    along = np.arange(AFTER + 1)
    rows = []
    for key, found in runs.items():
        curves = np.array([kept(run) for run in found])
        mean = curves.mean(0)
        _add_method(figure, along, curves, mean, full_name(key), LOOKS[key])
        rows.append([full_name(key), *(f"{value:.0%}" for value in mean)])
    figure.update_xaxes(tickvals=along, range=[-0.15, AFTER + 0.1])
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    text = _(
        "Accuracy on the test images of a tier's label, right after its turn and up to {updates} "
        "updates later; thin lines are runs."
    ).format(updates=AFTER)
    columns = [_("method"), *(_("{count} later").format(count=count) for count in along)]
    set_description(figure, text, columns, rows)
    return figure


def _add_method(
    figure: go.Figure,
    along: np.ndarray,
    curves: np.ndarray,
    mean: np.ndarray,
    name: str,
    look: Look,
) -> None:
    """Add a thin line for each run of a method, and above them their mean."""
    for curve in curves:
        thin = Look(look.colour, "solid", look.marker)
        add_curve(figure, along, curve, name, thin, legendgroup=name, **_OF_ONE_RUN)
    hover = _("{name}, %{{x}} updates later: %{{y:.0%}}").format(name=name)
    hover += "<extra></extra>"
    add_curve(figure, along, mean, name, look, width=3, legendgroup=name, hovertemplate=hover)
