"""Accuracy on the labels of slow clients against that on the labels of fast ones: the stored runs,
and the reader's FedNova.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.algorithms.base import LocalUpdates, Server
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.plots.colours import GREY, INK, METHODS, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.check import own
from fedlab_course.evidence import tables
from fedlab_course.methods import two_speeds

BOTH = ["slow_accuracy", "fast_accuracy"]
_X = "accuracy on the labels of slow clients"
_Y = "accuracy on the labels of fast clients"
_DELTA = 0.01
_TOP = 1.09  # of the axes; room for names
_RIGHT = 1.04
_CLOSE_X = (0.85, 1.0)  # what the inset of the race shows
_CLOSE_Y = (0.84, 0.95)
_BLUE = METHODS["fedprox"]
_GREEN = METHODS["fednova"]
_ALL_TEN = "all do ten epochs"
LONGER = 6.3  # at μ = 10 FedNova's step over that of FedProx: Σ ρ_k τ_k / Σ ρ_k τ̃_k


class Point(NamedTuple):
    """A method of the scatter: its row of the stored tables, its look, and where its name is, in
    pixels from its marker.
    """

    row: str
    colour: str
    symbol: str
    shift: tuple[int, int]


POINTS = {
    _ALL_TEN: Point("even", GREY, "star", (0, -34)),
    "FedAvg, dropped": Point("drop", INK, "circle-open", (54, 22)),
    "FedAvg": Point("keep", INK, "circle", (10, -20)),
    "FedAvg, η/5": Point("keep, small", INK, "square", (-46, -20)),
    "FedProx, μ = 1": Point("mu=1", _BLUE, "square", (-36, 24)),
    "FedProx, μ = 10": Point("mu=10", _BLUE, "square", (-24, 28)),
    "FedNova": Point("nova", _GREEN, "triangle-up", (-70, 18)),
    "FedNova, η/5": Point("small", _GREEN, "triangle-down", (0, -24)),
    "FedNova, μ = 10": Point("nova, mu=10", _GREEN, "triangle-right", (-64, 34)),
}
_PROX = ("keep", "mu=0.01", "mu=0.1", "mu=1", "mu=10")  # from left to right on its path
_GUESSES = {"A": (0.83, 0.84), "B": (0.75, 0.93), "C": (0.44, 0.95), "D": (0.6, 0.6)}


def stored() -> pd.DataFrame:
    """The rows of both stored tables, with a row for each algorithm and seed."""
    return pd.concat([tables.read(name) for name in ("two_speeds", "slow_remedies")])


def opening() -> go.Figure:
    """Where everybody's ten epochs lead, and four places where FedAvg might end."""
    figure = _plane("Half of the clients do one epoch of ten")
    rows = [_add_stored(figure, stored(), _ALL_TEN)]
    circle = {"size": 30, "color": PAPER, "line": {"color": INK, "width": 2}}
    for letter, (slow, fast) in _GUESSES.items():
        figure.add_scatter(
            x=[slow], y=[fast], mode="markers+text", text=[f"<b>{letter}</b>"], marker=circle
        )
        rows.append([letter, f"{slow:.0%}", f"{fast:.0%}"])
    places = "; ".join(f"{name} at {slow} and {fast}" for name, slow, fast in rows)
    text = f"{_X} across, {_Y} upwards. {places}. Where does FedAvg end?"
    set_description(figure, text, ["place", "slow", "fast"], rows)
    return figure


def scatter(names: Collection[str]) -> go.Figure:
    """The stored methods ``names``: means over 20 seeds, with two standard errors to each side.

    A method of :data:`POINTS` that is not among the ``names`` is left out. The grey band is within
    a point of everybody's ten epochs, over both halves of the labels.
    """
    title = "50 rounds at η = 0.05, 20 seeds"
    return _described(_plane(title), names, [])


def race(
    rules: dict[str, fl.Algorithm],
    fed: fl.FederatedDataset,
    slow: np.ndarray,
    model: nn.Module,
    **work: Any,
) -> go.Figure:
    """FedAvg and ten epochs for all, and a large marker for a run of each of ``rules``: name →
    algorithm.

    ``slow``: the labels that the first half of the clients holds alone. ``work``: keywords of
    ``fl.simulate``.
    """
    figure = _plane(f"In bold: one run each, {own.whose(*map(type, rules.values()))}")
    _add_inset(figure)
    names = (_ALL_TEN, "FedAvg") if fed.dataset.name == "digits" else ()
    rows = []
    for (name, rule), (symbol, colour, shift) in zip(rules.items(), _LIVE, strict=False):
        ends = run(rule, fed, slow, model, **work)
        marker = {"size": 17, "symbol": symbol, "color": rgba(colour, 0.25)}
        marker["line"] = {"color": colour, "width": 3}
        _add_marker(figure, ends, name=name, mode="markers", marker=marker)
        _name(figure, f"<b>{name}</b>", ends, colour, shift)
        rows.append([f"{name}, one run", *(f"{end:.1%}" for end in ends)])
    return _described(figure, names, rows)


_LIVE = (
    ("triangle-up", _GREEN, (14, -24)),
    ("square", _BLUE, (-84, 10)),
    ("square", _BLUE, (110, -2)),
    ("triangle-right", _GREEN, (60, 32)),
    ("triangle-right", _GREEN, (-40, 30)),
)


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


@dataclass(frozen=True)
class LongerMove(Wrapper):
    """``inner`` whose server goes ``times`` as far."""

    inner: fl.Algorithm
    times: float

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        found = self.inner.aggregate(server, updates)
        return server.params + self.times * (found - server.params)


def both_lengths(nova: fl.Algorithm, mu: float = 10.0) -> dict[str, fl.Algorithm]:
    """FedProx and the reader's FedNova with this μ, each with the server's step of either."""
    prox = fl.FedProx(mu)
    return {
        f"FedProx, μ = {mu:g}": prox,
        f"FedProx, μ = {mu:g}, long": LongerMove(prox, LONGER),
        f"FedNova, μ = {mu:g}": nova,
        f"FedNova, μ = {mu:g}, short": LongerMove(nova, 1 / LONGER),
    }


def less_than_all_ten() -> go.Figure:
    """End accuracy over all labels, less that of everybody's ten epochs, a dot for each seed."""
    ends = stored().pivot(index="seed", columns="algorithm", values="end_accuracy")
    names = ["FedAvg", "FedAvg, η/5", "FedProx, μ = 10"]
    names += ["FedNova", "FedNova, μ = 10", "FedNova, η/5"]
    values = {name: (ends[POINTS[name].row] - ends["even"]).to_numpy() for name in names}
    return comparison_figures.differences(
        values, margin=_DELTA, title="All labels, less everybody's ten epochs"
    )


def by_chance() -> go.Figure:
    """End accuracy with 90 % stragglers by chance, less FedAvg that keeps their work."""
    rows = tables.matching("stragglers", {"stragglers": 0.9})
    ends = rows.pivot(index="seed", columns="algorithm", values="end_accuracy")
    names = {
        "FedAvg, dropped": "drop",
        "FedProx, best μ": "best",
        "FedProx, μ = 1": "mu=1",
        "FedNova": "nova",
    }
    values = {name: (ends[row] - ends["keep"]).to_numpy() for name, row in names.items()}
    return comparison_figures.differences(
        values, margin=_DELTA, title="90 % stragglers by chance, less FedAvg"
    )


def _plane(title: str) -> go.Figure:
    """Two axes of shares, with a band where both halves together are as accurate as with ten epochs
    for everybody.
    """
    figure = new_figure(title=title, x_title=_X, y_title=_Y, height=560, legend=False)
    ticks = {"tickformat": ".0%", "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    figure.update_xaxes(range=[-0.04, _RIGHT], **ticks)
    figure.update_yaxes(range=[-0.04, _TOP], **ticks)
    return figure


def _add_band(figure: go.Figure, rows: pd.DataFrame) -> None:
    """Add the band of all places with the accuracy of ten epochs over both halves, ±δ."""
    middle = float(rows[rows.algorithm == "even"][BOTH].to_numpy().mean())
    low, high = 2 * (middle - _DELTA), 2 * (middle + _DELTA)
    figure.add_scatter(
        x=[low - _TOP, _RIGHT, _RIGHT, high - _TOP],
        y=[_TOP, low - _RIGHT, high - _RIGHT, _TOP],
        fill="toself",
        fillcolor=rgba(GREY, 0.18),
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
    )
    words = "within a point of all ten,<br>over both halves"
    note = {"text": words, "font": {"color": GREY}, "showarrow": False, "xanchor": "left"}
    figure.add_annotation(x=0.8, y=0.75, align="left", **note)


def _add_inset(figure: go.Figure) -> None:
    """Add an enlarged view of the corner around everybody's ten epochs, on the axes x2 and y2."""
    frame = {"linecolor": GREY, "mirror": True, "showgrid": False}
    frame |= {"tickformat": ".0%", "tickfont": {"size": 12}, "title": ""}
    x = {"domain": [0.1, 0.66], "range": _CLOSE_X, "tickvals": [0.85, 0.9, 0.95, 1], "anchor": "y2"}
    y = {"domain": [0.13, 0.52], "range": _CLOSE_Y, "tickvals": [0.85, 0.9, 0.95], "anchor": "x2"}
    figure.update_layout(xaxis2=frame | x, yaxis2=frame | y)
    corner = {"x0": _CLOSE_X[0], "x1": _CLOSE_X[1], "y0": _CLOSE_Y[0], "y1": _CLOSE_Y[1]}
    figure.add_shape(type="rect", line={"color": GREY, "width": 1}, **corner)
    note = {"text": "the same corner, enlarged", "font": {"color": GREY}, "showarrow": False}
    figure.add_annotation(x=0.1, y=0.55, xref="paper", yref="paper", xanchor="left", **note)


def _is_close(figure: go.Figure, place: Collection[float]) -> bool:
    """Whether the figure has an inset and the inset shows this place (slow, fast)."""
    slow, fast = place
    inside = _CLOSE_X[0] <= slow <= _CLOSE_X[1] and _CLOSE_Y[0] <= fast <= _CLOSE_Y[1]
    return inside and "yaxis2" in figure.layout


def _add_marker(figure: go.Figure, place: Collection[float], **look: Any) -> None:
    """Add a marker at (slow, fast), and once more in the inset if the inset shows the place."""
    slow, fast = place
    figure.add_scatter(x=[slow], y=[fast], **look)
    if _is_close(figure, place):
        figure.add_scatter(x=[slow], y=[fast], xaxis="x2", yaxis="y2", **look)


def _described(figure: go.Figure, names: Collection[str], rows: list[list[str]]) -> go.Figure:
    """Add the stored methods and the path of FedProx, and describe the figure with further
    ``rows``.
    """
    table = stored()
    if names:
        _add_band(figure, table)
    if "FedProx, μ = 10" in names:
        path = [table[table.algorithm == row][BOTH].mean() for row in _PROX]
        line = {"color": _BLUE, "width": 2, "dash": "9px,3px"}
        x, y = np.transpose(path)
        figure.add_scatter(x=x, y=y, name="FedProx, μ from 0 to 10", mode="lines", line=line)
    rows = [_add_stored(figure, table, name) for name in names] + rows
    places = "; ".join(f"{name} {slow} and {fast}" for name, slow, fast in rows)
    text = f"{_X} across, {_Y} upwards, means with two standard errors. {places}."
    set_description(figure, text, ["method", "slow", "fast"], rows)
    return figure


def _add_stored(figure: go.Figure, table: pd.DataFrame, name: str) -> list[str]:
    """Add a method at its means, with bars of two standard errors and its name. Return its row."""
    point = POINTS[name]
    columns = table[table.algorithm == point.row][BOTH]
    means = columns.mean()
    errors = 2 * columns.sem()
    bars = [{"array": [error], "color": point.colour, "width": 0} for error in errors]
    _add_marker(
        figure,
        list(means),
        name=name,
        mode="markers",
        marker={"color": point.colour, "symbol": point.symbol, "size": 11},
        error_x=bars[0],
        error_y=bars[1],
        hovertemplate="slow %{x:.1%}, fast %{y:.1%}",
    )
    _name(figure, name, list(means), point.colour, point.shift)
    return [name, *(f"{mean:.1%} ± {error:.1%}" for mean, error in zip(means, errors, strict=True))]


def _name(
    figure: go.Figure, words: str, place: list[float], colour: str, shift: tuple[int, int]
) -> None:
    """Write a name beside a marker, in the inset if that shows it, with a thin line to it where it
    is far.
    """
    far = max(map(abs, shift)) > 30
    axes = {"xref": "x2", "yref": "y2"} if _is_close(figure, place) else {}
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
        **axes,
    )
