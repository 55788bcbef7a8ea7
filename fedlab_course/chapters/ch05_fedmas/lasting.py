"""What an added-up Ω keeps and costs over fifty rounds, and what its end does: stored runs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, add_band, group_look, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch05_fedmas.chosen import ADDED_UP, LOOKS
from fedlab_course.chapters.ch05_fedmas.within_updates import UPDATES
from fedlab_course.evidence import best_rates, tables
from fedlab_course.explore.figures import add_curve
from fedlab_course.methods.forgotten import AFTER

_ = translator(__name__)

_SHOWN = (4, 10, 11, 20, 50)  # rounds in the table of a figure
_STANDARD_ERRORS = 2
_AT_MOST = 9  # marks of a curve
_TOP = 1.04  # of the axis of y
_TEN_ROUNDS = "FedMas added up, ten rounds"
# as in "tiers_memory": method → its name and look, window → its words
_FOLLOWED = {
    "TFedAvg": ("TFedAvg", LOOKS["TFedAvg"]),
    "FedMas added up": (_("Ω added up"), LOOKS[ADDED_UP]),
    _TEN_ROUNDS: (_("Ω for ten rounds"), group_look(8)),
}
_WINDOWS = {  # window → its words, and the methods that are shown in it
    "next": (_("round 11"), ("TFedAvg", "FedMas added up", _TEN_ROUNDS)),
    "last": (_("rounds 46 to 50"), ("TFedAvg", "FedMas added up")),
}


class _Curve(NamedTuple):
    """``mean`` and ``error`` by round or update, and the ``look``."""

    mean: pd.Series
    error: pd.Series
    look: Look


def fifty_rounds() -> go.Figure:
    """Test accuracy over fifty rounds at one rate, mean ± two standard errors over the stored
    seeds; a dotted line where about ``UPDATES`` updates have been made.
    """
    curves = {name: _accuracy(method, look) for method, (name, look) in _FOLLOWED.items()}
    figure = new_figure(
        title=_("Fifty rounds at η = 0.071, λ = 1, 20 seeds"),
        x_title=_("communication round"),
        y_title=_("test accuracy"),
        legend=False,
    )
    _draw(figure, curves, _("{name}, round {x}: {y}"))
    _name(figure, curves)
    where = _fifty_updates()
    figure.add_vline(x=where, line={"color": GREY, "width": 1, "dash": "dot"})
    note: dict[str, Any] = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "xshift": 4}
    words = _("about 50 updates")
    figure.add_annotation(x=where, y=0, text=words, font={"color": GREY}, **note)
    text = _(
        "Test accuracy over fifty rounds of TFedAvg, and of FedMas with Ω added up, always and for "
        "ten rounds, mean and two standard errors over 20 seeds. A dotted line is where about 50 "
        "updates have been made."
    )
    return _described(figure, text, curves)


def left() -> go.Figure:
    """What is left of a label after its turn, in the round after the end of Ω and in the last
    rounds: mean ± two standard errors over the stored seeds.
    """
    figure = new_figure(
        title=_("What is left of a label, η = 0.071, λ = 1, 20 seeds"),
        x_title="",
        y_title="",
        height=420,
    )
    titles = [words for words, _methods in _WINDOWS.values()]
    figure.set_subplots(
        1, len(titles), shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=titles
    )
    rows = []
    for column, window in enumerate(_WINDOWS, start=1):
        rows += _add_window(figure, column, window)
    figure.update_xaxes(title=_("updates since it trained"), dtick=1, range=[-0.2, AFTER + 0.2])
    figure.update_yaxes(range=[0, _TOP], tickformat=".0%")
    figure.update_yaxes(title=_("accuracy on the label"), col=1)
    figure.update_layout(margin_t=84, title_pad_b=34)
    text = _(
        "Accuracy on the test images of a label right after its turn and up to {updates} updates "
        "later, in the round after the end of Ω and in the last rounds, mean and two standard "
        "errors over 20 seeds."
    ).format(updates=AFTER)
    later = (_("{count} later").format(count=count) for count in range(AFTER + 1))
    set_description(figure, text, [_("method"), _("rounds"), *later], rows)
    return figure


def _add_window(figure: go.Figure, column: int, window: str) -> list[list[str]]:
    """Add the panel of a window, and name each method once in the legend; return the rows of the
    table.
    """
    words, methods = _WINDOWS[window]
    curves = {_FOLLOWED[method][0]: _left(method, window) for method in methods}
    named = {trace.name for trace in figure.data}
    panel = new_figure(title=None, x_title="", y_title="")
    _draw(panel, curves, _("{name}, {x} updates later: {y}"))
    for trace in panel.data:
        shown = trace.fill is None and trace.name not in named
        figure.add_trace(trace.update(showlegend=shown), row=1, col=column)
    return [
        [name, words, *(f"{value:.0%}" for value in curve.mean)] for name, curve in curves.items()
    ]


def _left(method: str, window: str) -> _Curve:
    """What is left of a label 0, 1, …, ``AFTER`` updates after its turn."""
    runs = tables.matching("tiers_memory", {"method": method, "window": window})
    later = runs[[f"after_{count}" for count in range(AFTER + 1)]].set_axis(
        range(AFTER + 1), axis=1
    )
    return _Curve(later.mean(), _STANDARD_ERRORS * later.sem(), _FOLLOWED[method][1])


def _accuracy(method: str, look: Look) -> _Curve:
    rows = tables.matching("tiers_memory_curves", {"method": method})
    rows = rows.set_index("round").sort_index()
    error = _STANDARD_ERRORS * rows["test_accuracy_std"] / np.sqrt(rows["n"])
    return _Curve(rows["test_accuracy_mean"], error, look)


def _fifty_updates() -> float:
    """The round, with a fraction, in which TFedAvg makes its fiftieth update on average."""
    runs = best_rates.judged_runs("one_label", "TFedAvg", "rounds")
    return UPDATES * 50 / float(runs["server_updates"].mean())


def _draw(figure: go.Figure, curves: Mapping[str, _Curve], hover: str) -> None:
    """Add the band of each curve, and the curve with some marks; ``hover``: what a point says."""
    for name, (mean, error, look) in curves.items():
        x = mean.index.to_numpy()
        low, high = (mean - error).to_numpy(), (mean + error).to_numpy()
        add_band(figure, x, low, high, look, group=name, name=name)
        texts = [f"{value:.0%}" for value in mean]
        words = hover.format(name=name, x="%{x}", y="%{text}") + "<extra></extra>"
        more: dict[str, Any] = {"legendgroup": name, "text": texts, "hovertemplate": words}
        add_curve(figure, x, mean.to_numpy(), name, look, **more)
        figure.data[-1].update(marker_maxdisplayed=_AT_MOST)


def _name(figure: go.Figure, curves: Mapping[str, _Curve]) -> None:
    """Write the name of each curve at its end, over fifty rounds."""
    ends = {
        name: (float(mean.index[-1]), float(mean.iloc[-1]))
        for name, (mean, _error, _look) in curves.items()
    }
    colours = {name: curve.look.colour for name, curve in curves.items()}
    comparison_figures.name_ends(figure, ends, colours, _TOP, leader=14)
    figure.update_xaxes(range=[0, 50.5])
    figure.update_yaxes(range=[0, _TOP], tickformat=".0%")


def _described(figure: go.Figure, text: str, curves: Mapping[str, _Curve]) -> go.Figure:
    heads = [_("method"), *(_("round {number}").format(number=number) for number in _SHOWN)]
    rows = [
        [name, *(f"{curve.mean[number]:.0%}" for number in _SHOWN)]
        for name, curve in curves.items()
    ]
    set_description(figure, text, heads, rows)
    return figure
