"""Tiers in turn: runs on two axes, and whether two algorithms agree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.style import MARKER_SIZE, new_figure, set_description
from fedlab_course import display

_ = translator(__name__)

_FEW = 12  # points of a curve that are all marked
_ROUNDING = 1e-6  # of float32 parameters


def by_both(histories: Mapping[str, fl.History], *, title: str) -> go.Figure:
    """Test accuracy over rounds, and beside it over the server updates that all have made.

    A curve ends with its last whole round; of a few rounds each has a marker.
    """
    panels = [fl.plots.convergence(histories, x=x) for x in ("rounds", "updates")]
    figure = new_figure(title=title, x_title="", y_title="")
    figure.set_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.05)
    shared = min(history.records[-1].server_updates for history in histories.values())
    for trace in panels[1].data:
        _cut(trace, shared)
    for column, panel in enumerate(panels, start=1):
        for trace in panel.data:
            figure.add_trace(trace.update(showlegend=column == 1), row=1, col=column)
        figure.update_xaxes(title_text=panel.layout.xaxis.title.text, col=column)
    figure.update_yaxes(title_text=_("test accuracy"), col=1)
    figure.update_yaxes(tickformat=".0%")
    figure.update_xaxes(range=[0, shared], col=2)
    rows = [
        [trace.name, f"{trace.y[-1]:.1%}", f"{trace.x[-1]:g}"]
        for trace in panels[1].data
        if len(trace.x)  # its first round can have more updates than all have made
    ]
    ends = _("; ").join(" ".join(row[:2]) for row in rows)
    text = _("Over server updates, at the end of a round, up to {shared}: {ends}.")
    text = text.format(shared=shared, ends=ends)
    columns = [_("method"), _("test accuracy"), _("server updates")]
    set_description(figure, display.sentences(fl.plots.describe(panels[0]), text), columns, rows)
    return figure


def _cut(trace: Any, end: float) -> None:
    """Leave out the points of a curve beyond ``end``, and mark each of those left if they are
    few.
    """
    count = int((np.asarray(trace.x) <= end).sum())
    trace.update(x=trace.x[:count], y=trace.y[:count])
    if count <= _FEW:
        trace.marker.update(size=MARKER_SIZE, sizeref=1)
    else:
        trace.marker.update(size=trace.marker.size[:count])


def same(mine: fl.Algorithm, theirs: fl.Algorithm, fed: Any, model: Any, **settings: Any) -> float:
    """Say how far the parameters of two algorithms are apart after one round; return the largest
    difference.
    """
    one_round = settings | {"rounds": 1, "progress": False}
    w, v = (fl.simulate(fed, model, rule, **one_round).params for rule in (mine, theirs))
    assert w is not None and v is not None
    largest = float((w - v).abs().max())
    line = _(
        "`{mine}` and `fl.{theirs}` differ: after one round the largest difference of a parameter "
        "is {largest:.0e}."
    )
    if largest < _ROUNDING:
        line = _(
            "`{mine}` and `fl.{theirs}` agree: after one round the largest difference of a "
            "parameter is {largest:.0e}, which is rounding."
        )
    names = {"mine": type(mine).__name__, "theirs": type(theirs).__name__}
    display.publish(display.remark(line.format(**names, largest=largest)))
    return largest
