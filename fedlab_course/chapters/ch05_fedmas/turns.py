"""What is it in tiers that helps: each method at its best learning rate, and tiers taken apart."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import MARKER_SIZE, new_figure, set_description
from fedlab_course import display
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.evidence import tables

_ = translator(__name__)

_FEW = 12  # points of a curve that are all marked
_ROUNDING = 1e-6  # of float32 parameters
_RANDOM = _("FedAvg: random clients")
_UNLIKE = _("two unlike clients")
_ALIKE = _("two like clients")
_KINDS = {
    _RANDOM: (INK, "circle"),
    _UNLIKE: (GROUPS[5], "square"),
    _ALIKE: (ideas.TIERS.colour, "diamond"),
}
YOURS = _("yours, half a round apart")


class StoredRow(NamedTuple):
    """A stored row of the figure: its ``kind``, its ``table`` and the values of its columns."""

    kind: str
    table: str
    where: Mapping[str, Any]


_TIERS = {"algorithm": "fedmastruetiers"}
STEPS = {  # rows, each with one property more than the row before → the words of the difference
    _("FedAvg, 20 clients"): "",
    _("FedAvg, 2 clients"): _("more updates"),
    _("pairs, new order"): _("each label in every round"),
    _("tiers by label, new order"): _("likeness"),
    _("tiers by label"): _("fixed order"),
}
ROWS = {
    _("FedAvg, 20 clients"): StoredRow(_RANDOM, "tiers_order", {"algorithm": "fedavg"}),
    _("FedAvg, 2 clients"): StoredRow(_RANDOM, "small_updates", {}),
    _("pairs, new order"): StoredRow(_UNLIKE, "pairs_order", {"order": "shuffled"}),
    _("tiers by label, new order"): StoredRow(
        _ALIKE, "tiers_order", _TIERS | {"tier_order": "shuffled"}
    ),
    _("tiers by label"): StoredRow(_ALIKE, "tiers_order", _TIERS | {"tier_order": "fixed"}),
    _("pairs, half a round apart"): StoredRow(
        _UNLIKE, "tiers_order", {"algorithm": "rotatedpairs"}
    ),
    YOURS: StoredRow(_UNLIKE, "", {}),
    _("pairs, turns together"): StoredRow(_UNLIKE, "pairs_order", {"order": "together"}),
}
_SHARED = range(10)  # the seeds that all stored rows have


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
    texts = [fl.plots.describe(panel) for panel in panels]
    table = panels[1].layout.meta["table"]
    set_description(figure, display.sentences(*texts), table["columns"], table["rows"])
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
        "Your `{mine}` and `fl.{theirs}` differ: after one round no parameter differs by more than "
        "{largest:.0e}."
    )
    if largest < _ROUNDING:
        line = _(
            "Your `{mine}` and `fl.{theirs}` agree: after one round no parameter differs by more "
            "than {largest:.0e}."
        )
    names = {"mine": type(mine).__name__, "theirs": type(theirs).__name__}
    display.publish(display.remark(line.format(**names, largest=largest)))
    return largest


def steps() -> pd.DataFrame:
    """The differences of ``STEPS`` in points, and their sum, for two measures at two rates."""
    measures = {_("mean accuracy"): "mean_accuracy", _("end accuracy"): "end_accuracy"}
    points: dict[str, dict[str, float]] = {}
    for title, measure in measures.items():
        for lr in (0.01, 0.05):
            means = pd.Series({name: _values(name, measure, lr).mean() for name in STEPS})
            differences = 100 * means.diff().iloc[1:].rename(STEPS)
            name = _("{name}, η = {lr:g}").format(name=title, lr=lr)
            points[name] = {**differences, _("in all"): differences.sum()}
    return pd.DataFrame(points).map("{:+.1f}".format).rename_axis(_("points, ten seeds"))


def _values(name: str, measure: str = "mean_accuracy", lr: float = 0.01) -> pd.Series:
    """A measure of a stored row, indexed by the seeds that all rows have."""
    row = ROWS[name]
    runs = tables.matching(row.table, {**row.where, "lr": lr})
    return runs.set_index("seed")[measure].loc[list(_SHARED)]


def apart(yours: Mapping[int, float]) -> go.Figure:
    """Mean accuracy over 30 rounds from FedAvg to tiers, one property after another.

    The differences of ``STEPS`` add up. Below them are rows that place the same turns otherwise.

    ``yours``: seed → mean accuracy of the reader's pairs, at least two. A faint dot is a seed, a
    bar the 95 % interval of the mean.
    """
    figure = new_figure(
        title=_("From FedAvg to tiers in four steps, η = 0.01 for all"),
        x_title=_("mean accuracy over 30 rounds, 72 MB each"),
        y_title="",
        height=640,
    )
    values = {name: _values(name) for name in ROWS if name != YOURS}
    values[YOURS] = pd.Series(yours)
    rows = []
    shown = set()
    for place, (name, row) in enumerate(ROWS.items()):
        _add_row(figure, place, name, values[name], row.kind, row.kind not in shown)
        shown.add(row.kind)
        found = t_interval(values[name])
        numbers = (f"{value:.1%}" for value in (found.mean, found.low, found.high))
        rows.append([name, row.kind, *numbers, found.runs])
    sentences = [_add_difference(figure, values, *ends) for ends in pairwise(STEPS)]
    _add_line(figure)
    places = list(range(len(ROWS)))
    figure.update_yaxes(tickvals=places, ticktext=list(ROWS), range=[len(ROWS) - 0.5, -0.6])
    figure.update_xaxes(tickformat=".0%")
    text = _(
        "Dot chart of mean accuracy over 30 rounds, with 95 % intervals, and differences. "
        "{differences}."
    ).format(differences=_("; ").join(sentences))
    columns = [_("cohorts"), _("kind"), _("mean"), _("low"), _("high"), _("seeds")]
    set_description(figure, text, columns, rows)
    return figure


def _add_line(figure: go.Figure) -> None:
    """Separate the steps from the rows below them."""
    level = len(STEPS) - 0.4
    figure.add_hline(y=level, line={"color": GREY, "width": 1})
    note: dict[str, Any] = {"showarrow": False, "xanchor": "left", "yanchor": "top"}
    text = _("the same updates, the turns of a label placed otherwise")
    figure.add_annotation(x=0, xref="paper", y=level, text=text, font={"color": GREY}, **note)


def _add_row(
    figure: go.Figure, place: int, name: str, values: pd.Series, kind: str, in_legend: bool
) -> None:
    """Add faint dots of the seeds, and above them the mean with its interval."""
    colour, symbol = _KINDS[kind]
    figure.add_scatter(
        x=values,
        y=[place + 0.2] * len(values),
        mode="markers",
        showlegend=False,
        marker={"color": colour, "size": 5, "opacity": 0.4},
        hovertemplate=_("%{{x:.1%}}<extra>one seed, {name}</extra>").format(name=name),
    )
    found = t_interval(values)
    mine = name == YOURS
    figure.add_scatter(
        x=[found.mean],
        y=[place],
        name=kind,
        showlegend=in_legend,
        mode="markers",
        error_x={"array": [found.half_width], "color": colour, "thickness": 2.5, "width": 7},
        marker={
            "symbol": f"{symbol}-open" if mine else symbol,
            "size": 13,
            "color": colour,
            "line": {"width": 2.5 if mine else 0},
        },
        hovertemplate=_("{mean:.1%}<br>{low:.1%} to {high:.1%}<extra>{name}</extra>").format(
            mean=found.mean, low=found.low, high=found.high, name=name
        ),
    )


def _add_difference(
    figure: go.Figure, values: Mapping[str, pd.Series], first: str, second: str
) -> str:
    """Add an arrow from the mean of one row to that of another, with its words; return a phrase."""
    places = [list(ROWS).index(name) for name in (first, second)]
    level = sum(places) / 2
    paired = 100 * (values[second] - values[first]).dropna()
    x = [values[name].mean() for name in (first, second)]
    for end, place in zip(x, places, strict=True):
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_shape(type="line", x0=end, x1=end, y0=place, y1=level, line=line)
    figure.add_annotation(
        x=x[1],
        y=level,
        ax=x[0],
        ay=level,
        axref="x",
        ayref="y",
        text="",
        arrowhead=2,
        arrowwidth=2,
        arrowcolor=GREY,
    )
    number = f"{paired.mean():+.0f}".replace("-", "−")
    words = _("{step}: {number} points").format(step=STEPS[second], number=number)
    note: dict[str, Any] = {"showarrow": False, "xanchor": "right", "xshift": -8}
    figure.add_annotation(x=min(x), y=level, text=f"<b>{words}</b>", **note)
    return _("{difference}, from {first} to {second}").format(
        difference=words, first=first, second=second
    )
