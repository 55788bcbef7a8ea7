"""Explorer: where clients that are away lead. Explorer: cohorts drawn blindly and from strata."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.style import GREY, looks, new_figure, set_description
from fedlab_course import theory
from fedlab_course.chapters.ch04_who_is_asked import figures
from fedlab_course.explore.figures import add_curve, prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider
from fedlab_course.theory import cluster_quality

_PRESENCES, _READ = np.linspace(0.02, 1, 50), (0.1, 0.4, 1.0)  # of the curves, and in the table
_DELTA = 0.1
_GROUPS, _LAST = (2, 3, 5, 10, 20), (1.0, 3.0, 7.0, 14.0)
_CLIENTS, _DRAWS = 100, 400
_SIZES, _LABELS = (5, 10, 20, 30, 50), (1, 2, 3, 5)


def absence(*, marks: Mapping[str, tuple[float, float]] | None = None, goal: Goal | None = None) -> Idea:
    """Resting points of Example 1 of [004] against the presence of its last group. Sliders ``size`` and ``last``.

    Four groups of ``size`` clients want 0, 1, 2 and ``last``; those of the last are there with a probability, and four
    clients are drawn. A grey band is within 0.1 of the optimum. ``marks``: run → its presence and where it ended, to be
    drawn beside the formulas.
    """
    sliders = {
        "size": slider("clients in a group", _GROUPS, 10, "All four groups are as large", moving=False),
        "last": slider("mean of the last group", _LAST, 7.0, "The others want 0, 1 and 2", moving=False),
    }
    return Idea(lambda size, last: _rests(size, last, marks or {}), sliders, goal=goal)


def _rests(size: int, last: float, marks: Mapping[str, tuple[float, float]]) -> go.Figure:
    group = theory.AbsentGroup(size, (0.0, 1.0, 2.0, last))
    ways = {
        "FedAvg": group.fedavg,
        "Hájek": group.hajek,
        "Horvitz–Thompson": group.horvitz_thompson,
        "FedSSO, one of each": group.one_of_each,
    }
    optimum, dots = group.optimum, {"color": GREY, "width": 1, "dash": "dot"}
    figure = new_figure(title=None, x_title="presence of the last group", y_title="comes to rest at", height=480)
    figure.add_hrect(y0=optimum - _DELTA, y1=optimum + _DELTA, fillcolor=GREY, opacity=0.15, line_width=0)
    figure.add_hline(y=optimum, line=dots, annotation_text="optimum", annotation_position="top left")
    styles, rows = looks({name: name for name in (*ways, *marks)}), []
    for way, rest in ways.items():
        name, along = f"{way}, formula", [rest(presence) for presence in _PRESENCES]
        add_curve(figure, _PRESENCES, along, name, styles[way], mode="lines", width=2.5)
        rows.append([name, *(f"{rest(presence):.3f}" for presence in _READ)])
    for way, (presence, end) in marks.items():
        marker = {"size": 12, "symbol": styles[way].marker, "color": styles[way].colour}
        figure.add_scatter(x=[presence], y=[end], name=f"{way}, one run", mode="markers", marker=marker)
        rows.append([f"{way}, one run at {presence:g}", *(f"{end:.3f}" if at == presence else "" for at in _READ)])
    said = "; ".join(f"{row[0]} {', '.join(filter(None, row[1:]))}" for row in rows)
    alt = (
        f"Groups of {size}, the last at {last:g}. Resting points at presence 0.1, 0.4 and 1; the optimum is "
        f"{optimum:g}, the band ±{_DELTA:g} about it: {said}."
    )
    set_description(figure, alt, ["way", *(f"presence {at:g}" for at in _READ)], rows)
    return figure


def cohorts(data: fl.Dataset, *, goal: Goal | None = None) -> Idea:
    """How many labels a cohort misses, drawn blindly or from strata. Sliders ``clients`` and ``labels``.

    100 clients hold some labels of ``data``; a stratum is the clients with the same labels, and the draw from strata is
    :class:`fedlab_core.sampling.Systematic`. 400 cohorts of either kind.
    """

    def draw(clients: int, labels: int) -> go.Figure:
        y = data.train.y
        parts = fl.partition.labels_per_client(y, num_clients=_CLIENTS, labels_per_client=labels, seed=0)
        holds = fl.FederatedDataset(data, parts).heterogeneity().label_counts > 0
        designs = {
            "blind": fl.sampling.Uniform(np.ones(_CLIENTS, dtype=bool), clients),
            "from strata": fl.sampling.Systematic(cluster_quality.label_groups(parts, y), clients),
        }
        rng, counts = np.random.default_rng(0), {}
        for name, design in designs.items():
            missed = [(~holds[design.draw(rng)].any(axis=0)).sum() for _ in range(_DRAWS)]
            counts[name] = np.array(missed)
        figure = figures.missing(counts, title=f"{clients} clients drawn, {labels} labels each")
        return prefixed(figure, f"K={clients}, {labels} labels.")

    cost = "Each costs a model down and one up"
    sliders = {
        "clients": slider("clients in a cohort K", _SIZES, 10, cost, moving=False),
        "labels": slider("labels per client", _LABELS, 1, "1 is the extreme split of [004]", moving=False),
    }
    return Idea(draw, sliders, goal=goal)
