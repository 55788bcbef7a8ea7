"""Explorers: cohorts drawn blindly and from strata, and clusters as valleys of the reachability
plot.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_course.chapters.ch04_fedsso import figures
from fedlab_course.chapters.ch04_fedsso.cohorts import missing
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import slider, slider_of
from fedlab_course.theory import cluster_quality

__all__ = ["cohorts", "gallery", "reachability"]

_CLIENTS = 100
_DRAWS = 400
_XI = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)


def reachability(points: Any, *, xi: float = 0.25, goal: Goal | None = None) -> Idea:
    """The reachability plot of OPTICS on ``points`` [N, D], with the clusters it cuts out. Slider
    ``xi``.
    """

    def draw(xi: float) -> go.Figure:
        return prefixed(figures.reachability(clustering.optics(points, xi=xi)), f"ξ={xi:g}.")

    steepness = slider(
        "steepness ξ",
        _XI,
        xi,
        "A cluster begins where the reachability falls by 1 − ξ",
        moving=False,
    )
    return Idea(draw, {"xi": steepness}, goal=goal)


def cohorts(data: fl.Dataset, *, goal: Goal | None = None) -> Idea:
    """How many labels a cohort misses, drawn blindly or from strata. Sliders ``clients`` and
    ``labels``.

    100 clients hold some labels of ``data``; a stratum is the clients with the same labels, and the
    draw from strata is :class:`fedlab_core.sampling.Systematic`. 400 cohorts of either kind.
    """

    def draw(clients: int, labels: int) -> go.Figure:
        y = data.train.y
        parts = fl.partition.labels_per_client(
            y, num_clients=_CLIENTS, labels_per_client=labels, seed=0
        )
        holds = fl.FederatedDataset(data, parts).heterogeneity().label_counts > 0
        designs = {
            "blind": fl.sampling.Uniform(np.ones(_CLIENTS, dtype=bool), clients),
            "from strata": fl.sampling.Systematic(cluster_quality.label_groups(parts, y), clients),
        }
        rng = np.random.default_rng(0)
        counts = {}
        for name, design in designs.items():
            missed = [(~holds[design.draw(rng)].any(axis=0)).sum() for _ in range(_DRAWS)]
            counts[name] = np.array(missed)
        figure = missing(counts, title=f"{clients} clients drawn, {labels} labels each")
        return prefixed(figure, f"K={clients}, {labels} labels.")

    sliders = {
        "clients": slider_of("clients_per_round", "cohorts", moving=False),
        "labels": slider_of("labels", "cohorts", moving=False),
    }
    return Idea(draw, sliders, goal=goal)
