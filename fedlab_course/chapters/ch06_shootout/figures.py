"""The same runs against what they cost: rounds, server updates and bytes; figures and tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.history import History
from fedlab_core.language import translator
from fedlab_core.plots import convergence
from fedlab_core.plots.series import Histories
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_core.server import Server
from fedlab_course.chapters.ch06_shootout import board
from fedlab_course.explore.widgets import divergence_in_words

_ = translator(__name__)

Rule = Callable[[np.ndarray, np.ndarray, float], float]
_LAST = _("the last round that is paid for")
_BEST = _("the best round so far")


def run_all(
    fed: fl.FederatedDataset,
    start: nn.Module,
    rules: Mapping[str, fl.Algorithm],
    rates: Mapping[str, float],
    **setting: Any,
) -> dict[str, History]:
    """Run each of ``rules`` at its rate. A run that diverges is left out, and a line says so."""
    found = {}
    for name, rule in rules.items():
        try:
            found[name] = fl.simulate(fed, start, rule, **setting | {"lr": rates[name]})
        except fl.Diverged as error:
            print(_("{sentence}.").format(sentence=divergence_in_words(error, board.shown(name))))
    return found


def spent(history: History) -> dict[str, np.ndarray]:
    """What a run has spent after each of its T rounds, [T]: rounds, server updates and bytes."""
    frame = history.frame
    return {
        _("rounds"): frame["round"].to_numpy(dtype=float),
        _("server updates"): frame["server_updates"].to_numpy(dtype=float),
        _("bytes"): (frame["bytes_up"] + frame["bytes_down"]).to_numpy(dtype=float),
    }


def filled(
    histories: Mapping[str, History], within_budget: Rule, baseline: str = "FedAvg"
) -> pd.DataFrame:
    """The accuracy of each run when it has spent what ``baseline`` spends in all: runs × axes.

    ``within_budget(spent, accuracy, budget)`` takes both arrays [T]. NaN: no round fits.
    """
    budgets = {axis: prices[-1] for axis, prices in spent(histories[baseline]).items()}
    table = {}
    for name, history in histories.items():
        accuracy = history.frame["test_accuracy"].to_numpy()
        table[board.shown(name)] = {
            axis: float(within_budget(prices, accuracy, budgets[axis]))
            for axis, prices in spent(history).items()
        }
    return pd.DataFrame(table).T


def best_so_far(prices: np.ndarray, accuracy: np.ndarray, budget: float) -> float:
    """The flattering rule: the best of the rounds that are paid for."""
    return float(np.max(accuracy[prices <= budget], initial=-np.inf))


def flattered(
    histories: Mapping[str, History],
    within_budget: Rule,
    axes: Sequence[str] = (_("rounds"), _("bytes")),
    *,
    title: str,
) -> go.Figure:
    """A panel for each of ``axes``: the accuracy by ``within_budget``, a mark, and that of the best
    round so far, the stroke at the other end of the line. A long line flatters.
    """
    honest = filled(histories, within_budget)
    best = filled(histories, best_so_far)
    figure = new_figure(
        title=title, x_title="", y_title="", height=170 + 40 * len(honest), legend=False
    )
    names = [f"<b>{axis}</b>" for axis in axes]
    figure.set_subplots(1, len(names), shared_yaxes=True, subplot_titles=names)
    styles = looks({board.shown(name): name for name in histories})
    for panel, axis in enumerate(axes, start=1):
        for name in honest.index:
            ends = (honest.loc[name, axis], best.loc[name, axis])
            _add_pair(figure, panel, name, ends, styles[name])
    figure.update_xaxes(tickformat=".0%", nticks=5, matches="x", title=_("test accuracy"))
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(margin_t=84, title_pad_b=34)
    rows = [
        [name, axis, f"{honest.loc[name, axis]:.1%}", f"{best.loc[name, axis]:.1%}"]
        for name in honest.index
        for axis in axes
    ]
    phrase = _("{name} by {axis} {last} ({most})")
    phrases = _("; ").join(
        phrase.format(name=name, axis=axis, last=last, most=most) for name, axis, last, most in rows
    )
    text = _("Accuracy in {last}, and in brackets in {best}. {phrases}.").format(
        last=_LAST, best=_BEST, phrases=phrases
    )
    set_description(figure, text, [_("method"), _("axis"), _("last"), _("best so far")], rows)
    return figure


def _add_pair(
    figure: go.Figure, panel: int, name: str, ends: tuple[float, float], style: Look
) -> None:
    """Add a row: a mark at the first of ``ends``, a stroke at the second, and a line between."""
    figure.add_scatter(
        x=list(ends),
        y=[name, name],
        mode="lines+markers",
        line={"color": style.colour, "width": 2},
        marker={
            "size": [12, 16],
            "color": style.colour,
            "symbol": [style.marker, "line-ns-open"],
            "line": {"width": 3, "color": style.colour},
            "opacity": 1,
        },
        customdata=[_LAST, _BEST],
        hovertemplate=_("%{y}: %{x:.1%}<extra>%{customdata}</extra>"),
        row=1,
        col=panel,
    )


def ledger(histories: Mapping[str, History]) -> pd.DataFrame:
    """What a round costs: server updates, and megabytes down and up."""
    rows = {}
    for name, history in histories.items():
        prices = spent(history)
        rounds = len(history.frame)
        updates = prices[_("server updates")][-1] / rounds
        sent = prices[_("bytes")][-1] / rounds
        rows[board.shown(name)] = {
            _("server updates in a round"): f"{updates:.0f}",
            _("MB in a round"): f"{sent / 1e6:.1f}",
        }
    return pd.DataFrame(rows).T


class LastAnswer(fl.Algorithm):
    """The patient: all K clients start from the same w, and the server keeps only one answer.

    It says that it trains one client after another.
    """

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """The model of a random client of the cohort, [P]."""
        last: torch.Tensor = updates.params[server.stream("order").integers(len(updates.params))]
        return last


def by_updates(histories: Histories, *, title: str) -> go.Figure:
    """:func:`fedlab_core.plots.convergence` against server updates, on a logarithmic axis.

    A round of one algorithm may have many updates.
    """
    named = {board.shown(name): runs for name, runs in histories.items()}
    figure = convergence(named, x="updates", title=title)
    return figure.update_xaxes(
        type="log", dtick=1, range=None, title=_("server updates (logarithmic)")
    )
