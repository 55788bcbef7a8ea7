"""Explorers: a blind cohort round by round, and clusters as valleys of the reachability plot."""

from typing import Any

import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.language import translator
from fedlab_course.chapters.ch04_fedsso import by_round, figures
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import named_slider, slider

_ = translator(__name__)

__all__ = ["blind", "gallery", "reachability"]

_XI = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)


def reachability(points: Any, *, xi: float = 0.25, goal: Goal | None = None) -> Idea:
    """The reachability plot of OPTICS on ``points`` [N, D], with the clusters it cuts out. Slider
    ``xi``.
    """

    def draw(xi: float) -> go.Figure:
        return prefixed(figures.reachability(clustering.optics(points, xi=xi)), f"ξ={xi:g}.")

    steepness = slider(
        _("steepness ξ"),
        _XI,
        xi,
        _("A cluster begins where the reachability falls by 1 − ξ"),
        moving=False,
    )
    return Idea(draw, {"xi": steepness}, goal=goal)


def blind(data: fl.Dataset, *, seed: int = 50, lr: float = 0.4) -> Idea:
    """Blind cohorts of ten of 100 clients with one label each, round by round. Slider ``shown``:
    the round. It begins at the last one, before training.
    """
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=100, labels_per_client=1, seed=seed
    )
    fed = fl.FederatedDataset(data, parts)
    run = by_round.watch(
        fed,
        fl.models.mlp(fed, seed=seed),
        fl.FedAvg(),
        rounds=by_round.SHOWN,
        clients_per_round=10,
        local_epochs=5,
        batch_size=10,
        lr=lr,
        seed=seed,
        progress=False,
    )
    watched = {_("blind cohorts of ten"): run}
    last = by_round.SHOWN
    figures = {str(number): by_round.after(watched, number) for number in range(1, last)}
    start = _("{number}, before").format(number=last)
    figures[start] = by_round.before(watched, last)
    figures[_("{number}, after").format(number=last)] = by_round.after(watched, last)

    def draw(shown: str) -> go.Figure:
        return figures[shown]

    names = {name: name for name in figures}
    shown = named_slider(_("round"), names, start, _("The round that is shown"))
    return Idea(draw, {"shown": shown})
