"""Figures that a reader moves: the proximal term in the plane, and what μ does at every rate."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch02_fedprox import proximal_plane
from fedlab_course.evidence import best_rates, rate_figures
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import named_slider, slider, slider_of

_ = translator(__name__)
_NAMES = {  # of the splits of best_rates
    "two_labels": _("two labels"),
    "one_label": _("one label"),
    "dirichlet_0.1": _("Dirichlet 0.1"),
    "dirichlet_0.3": _("Dirichlet 0.3"),
    "iid": _("IID"),
}
SPLITS = ("two_labels", "one_label", "dirichlet_0.1")  # with curves over rates
_NEAR = 0.2
_LOWEST = {"one_label": 0.2}  # accuracy at the bottom of the figure over rates; others: 0.8
# μ → its name in the stored tables; 0 is FedAvg
STRENGTHS = {0.0: "FedAvg", 0.01: "FedProx 0.01", 0.1: "FedProx 0.1", 1.0: "FedProx 1"}


def proximal(update: proximal_plane.LocalUpdate, wrong: proximal_plane.LocalUpdate) -> Idea:
    """Two clients in the plane make local steps of FedProx; beside them with a wrong step.

    ``update`` and ``wrong``: local_update(w, k, gradient, eta, steps, mu). Sliders ``mu`` and
    ``round``: the figure shows the local steps of that round and the path of w up to it. The goal
    is a distance of less than 0.2 from the optimum.
    """
    sliders = {
        "mu": slider_of("mu", "plane"),
        "round": slider(_("round"), proximal_plane.ROUNDS, 1, _("Rounds so far")),
    }

    def is_near(mu: float, round: int) -> bool:
        return proximal_plane.off(update, mu, round) < _NEAR

    goal = Goal(_("bring the left w within {near} of the optimum").format(near=_NEAR), is_near)
    return Idea(partial(proximal_plane.draw, update, wrong), sliders, goal=goal)


def over_rates() -> Idea:
    """End accuracy against η: FedAvg, and FedProx with a strength that the slider reveals.

    Sliders ``split`` and ``mu``; at μ = 0 FedAvg stands alone.
    """
    sliders = {
        "split": _split_slider(SPLITS),
        "mu": slider_of("mu", "rates"),
    }
    return Idea(_over_rates, sliders)


def _over_rates(split: str, mu: float) -> go.Figure:
    methods = {"FedAvg": "FedAvg"}
    if mu:
        methods[f"FedProx μ = {mu:g}"] = STRENGTHS[mu]
    title = _("End accuracy by learning rate: {split}").format(split=_NAMES[split])
    figure = rate_figures.by_rate(split, methods, title=title)
    rate_figures.zoom(figure, _LOWEST.get(split, 0.8))
    return figure


def at_best() -> Idea:
    """FedProx less FedAvg on test images, each at its best rate, a dot for each of twenty seeds."""
    return Idea(_at_best, {"split": _split_slider(tuple(_NAMES))})


def _at_best(split: str) -> go.Figure:
    methods = {f"FedProx μ = {mu:g}": name for mu, name in STRENGTHS.items() if mu}
    return comparison_figures.differences(
        best_rates.leads(split, methods),
        margin=best_rates.MARGIN,
        title=_("FedProx − FedAvg: {split}").format(split=_NAMES[split]),
        x_title=_("points at the end, each at its best rate"),
    )


def _split_slider(splits: Sequence[str]) -> Any:
    names = {_NAMES[split]: split for split in splits}
    return named_slider(
        _("split"), names, "two_labels", _("How the images are dealt to the clients")
    )
