"""Groups of clients with names of their own: how well k-means and IFCA find them, and what the
reader's class makes of each grouping.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.algorithms import IFCA
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch11_one_or_several.figures import TABLE, means
from fedlab_course.check import own
from fedlab_course.evidence import tables
from fedlab_course.methods import probes, several

_ = translator(__name__)

NUM_GROUPS = 4
ONE = _("one model")
RANDOM = _("four random groups")
TRUE = _("the true groups")
_CONCEPTS = {"partition": "concepts"}
# name → the stored table, its method, and the look of the dots
_FINDERS = {
    "k-means, M = 4": ("concept_clusters", "per cluster, k-means", GROUPS[2], "x"),
    "IFCA, M = 4": (TABLE, "IFCA", GROUPS[0], "circle"),
}
_SPREAD = 0.3  # of the dots of a row, in rows
# stored method → its row in the figure
_STORED = {
    "FedAvg": ONE,
    "per cluster, k-means": "k-means, M = 4",
    "IFCA": "IFCA, M = 4",
}


def agreement() -> go.Figure:
    """The adjusted Rand index of k-means and of IFCA with the true groups: a dot per stored seed,
    and means.
    """
    figure = new_figure(
        title=_("Who finds the four groups?"),
        x_title=_("adjusted Rand index (1: the groups, 0: chance)"),
        y_title="",
        height=280,
    )
    table = []
    for place, (name, (stored, method, colour, symbol)) in enumerate(_FINDERS.items()):
        values = tables.matching(stored, _CONCEPTS | {"method": method}).adjusted_rand
        y = place + _SPREAD * (np.arange(len(values)) / len(values) - 0.5)
        marker = {"color": colour, "symbol": symbol, "size": 7, "opacity": 0.6}
        figure.add_scatter(x=values, y=y, mode="markers", marker=marker, showlegend=False)
        mark = {"color": INK, "symbol": "diamond", "size": 11}
        figure.add_scatter(x=[values.mean()], y=[place], mode="markers", marker=mark)
        figure.data[-1].update(name=_("mean"), showlegend=place == 0)
        table.append([name, f"{values.mean():.2f}", len(values)])
    figure.update_yaxes(
        tickvals=list(range(len(_FINDERS))), ticktext=list(_FINDERS), range=[1.5, -0.5]
    )
    phrase = _("{name}: {mean}")
    phrases = [phrase.format(name=row[0], mean=row[1]) for row in table]
    text = _("Dots of the adjusted Rand index for each seed. Means: {phrases}.")
    text = text.format(phrases=_("; ").join(phrases))
    set_description(figure, text, [_("clustering"), _("mean index"), _("seeds")], table)
    return figure


def groupings(
    named: several.Concepts, model: torch.nn.Module, setting: dict[str, Any]
) -> dict[str, Any]:
    """Four ways to put the clients into groups [N], by name; k-means sees one epoch of training."""
    seed = setting["seed"]
    work = setting | {"held_out": 0.25}
    training = fl.Simulation(named.fed, model, fl.FedAvg(), **work).fed
    start = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    moves = (probes.train(training, model, seed=seed).params - start).double().numpy()
    count = len(named.ids)
    return {
        ONE: np.zeros(count, dtype=int),
        RANDOM: np.random.default_rng(seed).permutation(named.ids),
        "k-means, M = 4": clustering.kmeans(moves, NUM_GROUPS, seed).labels,
        TRUE: named.ids,
    }


def served(
    per_group: Any, named: several.Concepts, model: torch.nn.Module, setting: dict[str, Any]
) -> go.Figure:
    """Accuracy on own held-out samples of the reader's class with each grouping, beside IFCA and
    the stored means over 40 seeds.
    """
    rules = {name: per_group(labels) for name, labels in groupings(named, model, setting).items()}
    rules["IFCA, M = 4"] = IFCA(num_models=NUM_GROUPS)
    live = {
        name: float(several.serve(named.fed, model, rule, named.tests, **setting).own.mean())
        for name, rule in rules.items()
    }
    kept = means(tables.matching(TABLE, _CONCEPTS), "own")
    kept_clusters = means(tables.matching("concept_clusters", _CONCEPTS), "own")
    stored = {
        row: (kept_clusters if name in kept_clusters.index else kept).loc[name]
        for name, row in _STORED.items()
    }
    return _dots(live, stored, float(kept["mean"]["alone"]), own.whose(per_group))


def _dots(live: dict[str, float], stored: dict[str, Any], alone: float, whose: str) -> go.Figure:
    names = list(live)
    figure = new_figure(
        title=_("Model per group, {whose}").format(whose=whose),
        x_title=_("accuracy on own held-out samples"),
        y_title="",
        height=400,
    )
    figure.add_vline(x=alone, line={"color": GREY, "width": 2, "dash": "dot"})
    figure.add_annotation(
        x=alone, y=1, yref="paper", yanchor="bottom", text=_("alone"), showarrow=False
    )
    mark = {"color": GROUPS[0], "symbol": "circle", "size": 12}
    figure.add_scatter(
        x=list(live.values()), y=names, mode="markers", name=_("this seed"), marker=mark
    )
    cross = {"color": INK, "symbol": "cross-thin", "size": 12, "line": {"width": 2}}
    figure.add_scatter(
        x=[one["mean"] for one in stored.values()],
        y=list(stored),
        error_x={"type": "data", "array": [one["error"] for one in stored.values()]},
        mode="markers",
        name=_("40 stored seeds, mean and two standard errors"),
        marker=cross,
    )
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names[::-1], showgrid=True
    )
    rows = [
        [name, f"{value:.1%}", f"{stored[name]['mean']:.1%}" if name in stored else "–"]
        for name, value in live.items()
    ]
    phrase = _("{name} {value}, stored mean {mean}")
    phrases = [phrase.format(name=name, value=value, mean=mean) for name, value, mean in rows]
    text = _(
        "Accuracy on own held-out samples, {whose}: {phrases}. Clients alone reach {alone:.1%}."
    ).format(whose=whose, phrases=_("; ").join(phrases), alone=alone)
    set_description(figure, text, [_("groups"), _("this seed"), _("stored mean")], rows)
    return figure
