"""Forgetting between tiers: what is left of a tier's label while the next tiers train."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.explore.figures import add_curve
from fedlab_course.methods import continual

_ = translator(__name__)

AFTER = 5  # updates that are shown after a turn
_OF_ONE_RUN: dict[str, Any] = {
    "mode": "lines",
    "width": 1,
    "opacity": 0.4,
    "hoverinfo": "skip",
    "showlegend": False,
}
NAMES = {
    "TFedAvg": "TFedAvg",
    "plain penalty": _("plain penalty"),
    "Ω, shuffled": _("Ω, shuffled"),
    "FedMas": "FedMas",
}
LOOKS = {
    "TFedAvg": ideas.TIERS,
    "plain penalty": ideas.PLAIN,
    "Ω, shuffled": ideas.SHUFFLED,
    "FedMas": ideas.OMEGA,
}


class Followed(NamedTuple):
    """A run of tiers: the test ``accuracy`` at its end; ``knows`` [V, labels], the accuracy on test
    images of each label after each of V updates; ``trained`` [V], the main label of the tier that
    trained.
    """

    accuracy: float
    knows: np.ndarray
    trained: np.ndarray


def follow(
    fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, tiers: np.ndarray, **settings: Any
) -> Followed:
    """Run ``rule``, which trains the ``tiers`` [N] in their order, and look at each update."""
    simulation = fl.Simulation(fed, model, continual.Noted(rule), **settings)
    simulation.run()
    way = simulation.state_dict()["algorithm"]["noted_way"]
    tests = continual.tests_of(fed.dataset, [[label] for label in range(_labels(fed))])
    knows = continual.knowledge(way, model, tests)
    accuracy = simulation.history.records[-1].test_accuracy
    main = main_labels(fed, tiers)
    return Followed(accuracy, knows, np.resize(main, len(way)))


def main_labels(fed: fl.FederatedDataset, tiers: np.ndarray) -> np.ndarray:
    """The label with the most samples in each tier, in the order of the tiers."""
    counts = []
    for tier in np.unique(tiers):
        members = np.flatnonzero(tiers == tier)
        held = np.concatenate([fed.y[fed.parts[client]].numpy() for client in members])
        counts.append(np.bincount(held, minlength=_labels(fed)))
    return np.argmax(counts, axis=1)


def _labels(fed: fl.FederatedDataset) -> int:
    """The number of labels, 0, 1, … up to the highest."""
    return int(fed.y.max()) + 1


def kept(run: Followed) -> np.ndarray:
    """The accuracy on a tier's label 0, 1, …, ``AFTER`` updates after its turn: the mean over turns
    that are followed by ``AFTER`` tiers with other labels. NaN if there is none.
    """
    curves = []
    for turn in range(len(run.trained) - AFTER):
        label = run.trained[turn]
        if label not in run.trained[turn + 1 : turn + AFTER + 1]:
            curves.append(run.knows[turn : turn + AFTER + 1, label])
    return np.mean(curves, axis=0) if curves else np.full(AFTER + 1, np.nan)


def forgotten(runs: Mapping[str, Sequence[Followed]]) -> go.Figure:
    """:func:`kept` of each method: a thin line for each run, and their mean.

    ``runs``: key of ``NAMES`` → runs.
    """
    figure = new_figure(
        title=_("What is left of a tier's label"),
        x_title=_("updates since the tier trained"),
        y_title=_("accuracy on its label"),
    )
    along = np.arange(AFTER + 1)
    rows = []
    for key, found in runs.items():
        curves = np.array([kept(run) for run in found])
        mean = curves.mean(0)
        _add_method(figure, along, curves, mean, NAMES[key], LOOKS[key])
        rows.append([NAMES[key], *(f"{value:.0%}" for value in mean)])
    figure.update_xaxes(tickvals=along, range=[-0.15, AFTER + 0.1])
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    text = _(
        "Accuracy on the test images of a tier's label, right after its turn and up to {updates} "
        "updates later; thin lines are runs."
    ).format(updates=AFTER)
    columns = [_("method"), *(_("{count} later").format(count=count) for count in along)]
    set_description(figure, text, columns, rows)
    return figure


def _add_method(
    figure: go.Figure,
    along: np.ndarray,
    curves: np.ndarray,
    mean: np.ndarray,
    name: str,
    look: Look,
) -> None:
    """Add a thin line for each run of a method, and above them their mean."""
    for curve in curves:
        thin = Look(look.colour, "solid", look.marker)
        add_curve(figure, along, curve, name, thin, legendgroup=name, **_OF_ONE_RUN)
    hover = _("{name}, %{{x}} updates later: %{{y:.0%}}").format(name=name)
    hover += "<extra></extra>"
    add_curve(figure, along, mean, name, look, width=3, legendgroup=name, hovertemplate=hover)
