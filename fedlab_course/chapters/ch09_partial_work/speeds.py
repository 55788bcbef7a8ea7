"""Accuracy on the labels of slow clients against that on the labels of fast ones: the stored runs,
and the reader's FedNova.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from torch import nn

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, METHODS, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.check import own
from fedlab_course.evidence import tables
from fedlab_course.methods import two_speeds

_ = translator(__name__)
BOTH = ["slow_accuracy", "fast_accuracy"]
_X = _("accuracy on the labels of slow clients")
_Y = _("accuracy on the labels of fast clients")
_DELTA = 0.01
_TOP = 1.09  # of the axes; room for names
_RIGHT = 1.04
_BLUE = METHODS["fedprox"]
_GREEN = METHODS["fednova"]
_ALL_TEN = "all do ten epochs"
_SMALL_NOVA = "FedNova, η/5, 5 × rounds"


class Point(NamedTuple):
    """A method of the scatter: its row of the stored tables, its look, and where its name is, in
    pixels from its marker.
    """

    row: str
    colour: str
    symbol: str
    shift: tuple[int, int]


POINTS = {
    _ALL_TEN: Point("even", GREY, "star", (-62, -20)),
    "FedAvg, dropped": Point("drop", INK, "circle-open", (54, 22)),
    "FedAvg": Point("keep", INK, "circle", (10, -20)),
    "FedAvg, η/5, 5 × rounds": Point("keep, small", INK, "square", (-90, -20)),
    "FedProx, μ = 10": Point("mu=10", _BLUE, "square", (-80, 24)),
    "FedNova": Point("nova", _GREEN, "triangle-up", (-70, 18)),
    _SMALL_NOVA: Point("small", _GREEN, "triangle-down", (-30, -44)),
    "FedNova, μ = 10": Point("nova, mu=10", _GREEN, "triangle-right", (-64, 34)),
}
# Name in POINTS → what a figure says, where it is not the name.
_SHOWN = {
    _ALL_TEN: _("all do ten epochs"),
    "FedAvg, dropped": _("FedAvg, dropped"),
    "FedAvg, η/5, 5 × rounds": _("FedAvg, η/5, 5 × rounds"),
    _SMALL_NOVA: _("FedNova, η/5, 5 × rounds"),
}
_PROX = ("keep", "mu=0.01", "mu=0.1", "mu=1", "mu=10")  # from left to right on its path
_GUESSES = {"A": (0.83, 0.84), "B": (0.75, 0.93), "C": (0.44, 0.95), "D": (0.6, 0.6)}


def stored() -> pd.DataFrame:
    """The rows of both stored tables, with a row for each algorithm and seed."""
    return pd.concat([tables.read(name) for name in ("two_speeds", "slow_remedies")])


def opening() -> go.Figure:
    """Where everybody's ten epochs lead, and four places where FedAvg might end."""
    figure = _plane(_("η = 0.05, half do one epoch of ten"))
    rows = [_add_stored(figure, stored(), _ALL_TEN, shift=(0, -34))]
    circle = {"size": 30, "color": PAPER, "line": {"color": INK, "width": 2}}
    for letter, (slow, fast) in _GUESSES.items():
        figure.add_scatter(
            x=[slow], y=[fast], mode="markers+text", text=[f"<b>{letter}</b>"], marker=circle
        )
        rows.append([letter, f"{slow:.0%}", f"{fast:.0%}"])
    places = _in_words(rows, _("{name} at {slow} and {fast}"))
    text = _("{x} across, {y} upwards. {places}. Where does FedAvg end?")
    text = text.format(x=_X, y=_Y, places=places)
    set_description(figure, text, [_("place"), _("slow"), _("fast")], rows)
    return figure


def scatter(names: Collection[str]) -> go.Figure:
    """The stored methods ``names``: means over 20 seeds, with two standard errors to each side.

    A method of :data:`POINTS` that is not among the ``names`` is left out. The dashed line is
    FedProx from μ = 0 to 10.
    """
    figure = _plane(_("Unless said: 50 rounds, η = 0.05; 20 seeds"))
    table = stored()
    x, y = np.transpose([table[table.algorithm == row][BOTH].mean() for row in _PROX])
    line = {"color": _BLUE, "width": 2, "dash": "9px,3px"}
    figure.add_scatter(x=x, y=y, name=_("FedProx, μ from 0 to 10"), mode="lines", line=line)
    return _described(figure, names, [])


def race(
    rules: dict[str, fl.Algorithm],
    fed: fl.FederatedDataset,
    slow: np.ndarray,
    model: nn.Module,
    **work: Any,
) -> go.Figure:
    """Stored methods, and a large marker for a run of each of ``rules``: name → algorithm.

    ``slow``: the labels that the first half of the clients holds alone. ``work``: keywords of
    ``fl.simulate``.
    """
    whose = own.whose(*map(type, rules.values()))
    figure = _plane(_("In bold: one run each, {whose}").format(whose=whose))
    names = (
        (_ALL_TEN, "FedAvg", "FedProx, μ = 10", _SMALL_NOVA) if fed.dataset.name == "digits" else ()
    )
    rows = []
    for (name, rule), (symbol, colour, shift) in zip(rules.items(), _LIVE, strict=False):
        ends = run(rule, fed, slow, model, **work)
        marker = {"size": 17, "symbol": symbol, "color": rgba(colour, 0.25)}
        marker["line"] = {"color": colour, "width": 3}
        slow_end, fast_end = ends
        figure.add_scatter(x=[slow_end], y=[fast_end], name=name, mode="markers", marker=marker)
        _name(figure, f"<b>{name}</b>", ends, colour, shift)
        rows.append([_("{name}, one run").format(name=name), *(f"{end:.1%}" for end in ends)])
    return _described(figure, names, rows)


_LIVE = (("triangle-up", _GREEN, (-10, 28)), ("triangle-right", _GREEN, (-64, 30)))


def run(
    rule: fl.Algorithm,
    fed: fl.FederatedDataset,
    slow: np.ndarray,
    model: nn.Module,
    **work: Any,
) -> list[float]:
    """The accuracies on the labels of slow and of fast clients, over the last tenth of a run in
    which the first half of the clients does one epoch.
    """
    slowed = two_speeds.Slowed(rule, fed.num_clients // 2)
    watch = two_speeds.AccuracyBySpeed(model, slow)
    fl.simulate(fed, model, slowed, **work, on_round=watch)
    last = watch.table.tail(max(1, len(watch.table) // 10))
    return [float(share) for share in last.mean()]


def by_rate() -> go.Figure:
    """Accuracy on the labels of slow and of fast clients at each learning rate: means over ten
    seeds, with two standard errors to each side.
    """
    figure = new_figure(title=_("50 rounds, 10 seeds"), x_title="", y_title=_("accuracy"))
    table = tables.read("speed_rates")
    rates = sorted(table.lr.unique())
    ticks = {"tickvals": rates, "ticktext": [f"{rate:g}" for rate in rates]}
    axis = {"type": "log", "range": np.log10([0.045, 0.63]).tolist()} | ticks
    shares = {"range": [0, 1.02], "tickformat": ".0%"}
    figure.update_layout(
        xaxis=axis | {"domain": [0, 0.47], "title": _("η, labels of slow clients")},
        xaxis2=axis
        | {"domain": [0.53, 1], "title": _("η, labels of fast clients"), "anchor": "y2"},
        yaxis=shares,
        yaxis2=shares | {"anchor": "x2", "showticklabels": False},
    )
    rows = []
    for name in (_ALL_TEN, "FedAvg", "FedNova"):
        mine = table[table.algorithm == POINTS[name].row]
        rows += [_add_curve(figure, mine, name, axes) for axes in ("", "2")]
    told = _("; ").join(
        _("{name}: {values}").format(name=name, values=_(", ").join(values))
        for name, *values in rows
    )
    text = _("Accuracy against the learning rate, in two panels, means of ten seeds. {told}.")
    columns = [_("method"), *ticks["ticktext"]]
    set_description(figure, text.format(told=told), columns, rows)
    return figure


def _add_curve(figure: go.Figure, table: pd.DataFrame, name: str, axes: str) -> list[str]:
    """Add the curve of a method over the rates, with bars. Return its row.

    ``axes``: "" for the labels of slow clients, "2" for those of fast ones.
    """
    point = POINTS[name]
    column, words = (BOTH[1], _("{name}, fast")) if axes else (BOTH[0], _("{name}, slow"))
    shown = _SHOWN.get(name, name)
    found = table.groupby("lr")[column].agg(["mean", "sem"])
    figure.add_scatter(
        x=found.index,
        y=found["mean"],
        error_y={"array": 2 * found["sem"], "width": 0},
        xaxis="x" + axes,
        yaxis="y" + axes,
        name=shown,
        mode="lines+markers",
        line={"color": point.colour, "width": 3, "dash": "dot" if name == _ALL_TEN else "solid"},
        marker={"symbol": point.symbol, "size": 10},
        legendgroup=name,
        showlegend=not axes,
        hovertemplate="η = %{x}: %{y:.1%}",
    )
    return [words.format(name=shown), *(f"{mean:.1%}" for mean in found["mean"])]


def by_chance() -> go.Figure:
    """End accuracy with 90 % stragglers by chance, less FedAvg that keeps their work."""
    rows = tables.matching("stragglers", {"stragglers": 0.9})
    ends = rows.pivot(index="seed", columns="algorithm", values="end_accuracy")
    names = {
        _("FedAvg, dropped"): "drop",
        _("FedProx, best μ"): "best",
        "FedProx, μ = 1": "mu=1",
        "FedNova": "nova",
    }
    values = {name: (ends[row] - ends["keep"]).to_numpy() for name, row in names.items()}
    title = _("90 % stragglers by chance, less FedAvg")
    return comparison_figures.differences(values, margin=_DELTA, title=title)


def _plane(title: str) -> go.Figure:
    """Two axes of shares, for the labels of slow and of fast clients."""
    figure = new_figure(title=title, x_title=_X, y_title=_Y, height=560, legend=False)
    ticks = {"tickformat": ".0%", "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    figure.update_xaxes(range=[-0.04, _RIGHT], **ticks)
    figure.update_yaxes(range=[-0.04, _TOP], **ticks)
    return figure


def _described(figure: go.Figure, names: Collection[str], rows: list[list[str]]) -> go.Figure:
    """Add the stored methods ``names``, and describe the figure with further ``rows``."""
    table = stored()
    rows = [_add_stored(figure, table, name) for name in names] + rows
    places = _in_words(rows, _("{name} {slow} and {fast}"))
    text = _("{x} across, {y} upwards, means with two standard errors. {places}.")
    text = text.format(x=_X, y=_Y, places=places)
    set_description(figure, text, [_("method"), _("slow"), _("fast")], rows)
    return figure


def _in_words(rows: list[list[str]], phrase: str) -> str:
    """The ``rows`` (name, slow, fast) as one list of phrases."""
    phrases = [phrase.format(name=name, slow=slow, fast=fast) for name, slow, fast in rows]
    return _("; ").join(phrases)


def _add_stored(
    figure: go.Figure, table: pd.DataFrame, name: str, shift: tuple[int, int] | None = None
) -> list[str]:
    """Add a method at its means, with bars of two standard errors and its name. Return its row.

    ``shift``: where its name is, in place of that in :data:`POINTS`.
    """
    point = POINTS[name]
    columns = table[table.algorithm == point.row][BOTH]
    means = columns.mean()
    errors = 2 * columns.sem()
    bars = [{"array": [error], "color": point.colour, "width": 0} for error in errors]
    slow, fast = means
    shown = _SHOWN.get(name, name)
    figure.add_scatter(
        x=[slow],
        y=[fast],
        name=shown,
        mode="markers",
        marker={"color": point.colour, "symbol": point.symbol, "size": 11},
        error_x=bars[0],
        error_y=bars[1],
        hovertemplate=_("slow %{x:.1%}, fast %{y:.1%}"),
    )
    _name(figure, shown, list(means), point.colour, shift or point.shift)
    return [
        shown,
        *(f"{mean:.1%} ± {error:.1%}" for mean, error in zip(means, errors, strict=True)),
    ]


def _name(
    figure: go.Figure, words: str, place: list[float], colour: str, shift: tuple[int, int]
) -> None:
    """Write a name beside a marker, with a thin line to it where it is far."""
    far = max(map(abs, shift)) > 30
    figure.add_annotation(
        x=place[0],
        y=place[1],
        text=words,
        font={"color": colour},
        showarrow=True,
        arrowhead=0,
        arrowwidth=1 if far else 0.1,
        arrowcolor=colour if far else rgba(colour, 0),
        standoff=8,
        ax=shift[0],
        ay=shift[1],
    )
