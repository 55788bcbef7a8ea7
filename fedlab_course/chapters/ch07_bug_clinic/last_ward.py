"""The last ward: four comparisons of an earlier edition of this course, all of them wrong.

Each has the figure that convicts it. 1: one learning rate for all. 2: a class without
``communication``. 3: a control that differs in two things. 4: one clustering for all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS
from fedlab_core.plots.style import group_look, new_figure, set_description
from fedlab_core.server import Server
from fedlab_course import comparison_figures as figures
from fedlab_course.chapters.ch05_fedmas.ablation import FedMasTrueTiers, RotatedPairs
from fedlab_course.evidence import tables
from fedlab_course.explore import ideas

_ = translator(__name__)
RATES = (0.05, 0.2, 0.4, 0.8)
OLD_RATE = 0.05
# the clusterings of the table ``concept_probes``, with their names in the figure
_CLUSTERINGS = {
    "OPTICS": _("OPTICS, the old one"),
    "DBSCAN": "DBSCAN",
    "k-means": "k-means, M = 4",
    "IFCA": "IFCA, M = 4",
}
_WORK: dict[str, Any] = {
    "local_epochs": 5,
    "batch_size": 10,
    "train_loss": False,
    "progress": False,
}


class UncountedScaffold(fl.Scaffold):
    """SCAFFOLD as a class that forgets ``communication``: it is charged what FedAvg sends."""

    title = "SCAFFOLD, uncounted"

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return len(cohort) * server.num_parameters, len(cohort) * server.num_parameters


def split(data: Dataset, labels: int, seed: int = 0) -> fl.FederatedDataset:
    """100 clients with so many labels each."""
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=100, labels_per_client=labels, seed=seed
    )
    return fl.FederatedDataset(data, parts)


def ends_by_rate(
    data: Dataset, rates: Sequence[float] = RATES, rounds: int = 50
) -> dict[str, pd.Series]:
    """Test accuracy of FedAvg and FedSSO after the last round, one label a client, by rate."""
    fed = split(data, 1)
    work = {**_WORK, "rounds": rounds, "clients_per_round": 10, "eval_every": rounds}
    found = {}
    for name, rule in (("FedAvg", fl.FedAvg()), ("FedSSO", fl.FedSSO())):
        ends = []
        for rate in rates:
            history = fl.simulate(fed, fl.models.mlp(fed, seed=0), rule, lr=rate, **work)
            ends.append(history.frame["test_accuracy"].iloc[-1])
        found[name] = pd.Series(ends, index=list(rates), dtype=float)
    return found


def one_rate(data: Dataset) -> go.Figure:
    """Patient 1: end accuracy against η, with the only rate that the old edition ran."""
    return figures.over_rates(
        ends_by_rate(data),
        title=_("FedSSO's lead, rate by rate"),
        old=OLD_RATE,
        old_name=_("the old rate"),
    )


def missing_bytes(data: Dataset, rounds: int = 20) -> go.Figure:
    """Patient 2: accuracy by bytes, with SCAFFOLD's bytes forgotten and counted."""
    fed = split(data, 2)
    work = {**_WORK, "rounds": rounds, "clients_per_round": 20, "lr": 0.05}
    rules = (fl.FedAvg(), UncountedScaffold(), fl.Scaffold())
    names = ("FedAvg", _("bytes forgotten"), _("SCAFFOLD, bytes counted"))
    runs = {
        name: fl.simulate(fed, fl.models.mlp(fed, seed=0), rule, **work)
        for name, rule in zip(names, rules, strict=True)
    }
    return fl.plots.convergence(runs, x="bytes", title=_("SCAFFOLD by bytes, counted and not"))


def turns(data: Dataset, algorithm: fl.Algorithm, rounds: int = 2) -> list[set[int]]:
    """The labels that train in each server update of so many rounds; one label a client."""
    fed = split(data, 1)
    labels = np.array([int(fed.y[part][0]) for part in fed.parts])
    simulation = fl.Simulation(
        fed,
        fl.models.softmax_regression(fed, seed=0),
        algorithm,
        rounds=rounds,
        clients_per_round=20,
        local_steps=1,
        batch_size=10,
        lr=0.05,
        progress=False,
    )
    found: list[set[int]] = []
    for _round in simulation:
        found += [set(labels[np.asarray(cohort)].tolist()) for cohort in simulation.cohorts]
    return found


def waits(found: Sequence[set[int]]) -> list[int]:
    """How many server updates lie between two turns of a label, for all labels in ``found``."""
    gaps = []
    for label in sorted(set[int]().union(*found)):
        updates = [number for number, labels in enumerate(found) if label in labels]
        gaps += np.diff(updates).tolist()
    return gaps


def two_differences(data: Dataset) -> go.Figure:
    """Patient 3: which labels train in which server update, under tiers and under the control."""
    figure = new_figure(
        title=_("Who trains when: tiers and their control"),
        x_title=_("server update"),
        y_title=_("label"),
    )
    rows = []
    words = []
    rules = {
        _("tiers of one label"): FedMasTrueTiers(0.01),
        _("the control, pairs"): RotatedPairs(),
    }
    for number, (name, rule) in enumerate(rules.items()):
        found = turns(data, rule)
        points = [(update, label) for update, labels in enumerate(found, 1) for label in labels]
        look = group_look(2 * number)
        figure.add_scatter(
            x=[update for update, _label in points],
            y=[label for _, label in points],
            mode="markers",
            name=name,
            marker={
                "color": look.colour,
                "symbol": ("circle", "square-open")[number],
                "size": (9, 15)[number],
                "line": {"width": 2 * number},
            },
        )
        wait = float(np.mean(waits(found)))
        rows.append([name, f"{len(points) / 20:.0f}", f"{wait:.0f}"])
        every = _("{name}: a label trains every {wait:.0f} updates on average")
        words.append(every.format(name=name, wait=wait))
    figure.update_yaxes(dtick=1)
    columns = [_("rule"), _("turns of a label in a round"), _("updates between two turns")]
    text = _("Labels in each of 20 server updates. {words}.").format(words="; ".join(words))
    set_description(figure, text, columns, rows)
    return figure


def one_clustering(_data: Dataset) -> go.Figure:
    """Patient 4: how well three clusterings of FedSSO's probe, and IFCA, find groups with names of
    their own; stored seeds, and all samples train.
    """
    figure = new_figure(
        title=_("Who finds the four groups?"),
        x_title="",
        y_title=_("adjusted Rand index (1: the groups, 0: chance)"),
        legend=False,
    )
    found = tables.matching("concept_probes", {"held_out": 0.0}).groupby("clustering").adjusted_rand
    means = found.mean()[list(_CLUSTERINGS)]
    names = list(_CLUSTERINGS.values())
    figure.add_bar(
        x=names,
        y=means,
        marker_color=[GREY, GROUPS[3], GROUPS[2], GROUPS[0]],
        text=[f"{mean:.2f}" for mean in means],
        textposition="outside",
    )
    figure.update_yaxes(range=[0, 1.1])
    rows = [[name, f"{mean:.2f}"] for name, mean in zip(names, means, strict=True)]
    phrases = _("; ").join(f"{name}: {mean}" for name, mean in rows)
    text = _("Bars of the mean adjusted Rand index with the four groups over 40 seeds. {phrases}.")
    set_description(figure, text.format(phrases=phrases), [_("clustering"), _("mean index")], rows)
    return figure


FIGURES: dict[int, Callable[[Dataset], go.Figure]] = {
    1: one_rate,
    2: missing_bytes,
    3: two_differences,
    4: one_clustering,
}


def show(data: Dataset) -> ideas.Idea:
    """The figures of the last ward, one after another."""
    return ideas.gallery(
        {float(number): draw(data) for number, draw in FIGURES.items()}, _("sentence"), value=1.0
    )
