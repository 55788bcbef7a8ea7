"""The race of chapter 4: over learning rates, and each method at its best."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from torch import nn

import fedlab_core as fl
from fedlab_course import comparison_figures
from fedlab_course.check import own
from fedlab_course.evidence import best_rates, rate_figures
from fedlab_course.explore.ideas import Idea, gallery

RATES = (0.05, 0.2, 0.4, 0.8, 1.6)  # of the live runs
_SPLITS = {1: ("one label", "one_label"), 2: ("two labels", "two_labels")}
_PAIRS = (
    ("one label", "one_label", "FedAvg"),
    ("two labels", "two_labels", "FedAvg"),
    ("Dirichlet 0.1", "dirichlet_0.1", "FedAvg"),
    ("Dirichlet 0.3", "dirichlet_0.3", "FedAvg"),
    ("one label", "one_label", "SCAFFOLD"),
    ("two labels", "two_labels", "SCAFFOLD"),
    ("one label", "one_label", "SCAFFOLD cohort"),
    ("two labels", "two_labels", "SCAFFOLD cohort"),
)


def end(fed: fl.FederatedDataset, model: nn.Module, rule: fl.Algorithm, **setting: Any) -> float:
    """Mean test accuracy of the last tenth of the rounds; chance for a run that diverges."""
    try:
        history = fl.simulate(fed, model, rule, **setting | {"train_loss": False})
    except fl.Diverged:
        return 1 / len(fed.test.y.unique())
    last = max(1, len(history.frame) // 10)
    return float(history.frame["test_accuracy"].tail(last).mean())


def live(
    feds: Mapping[int, fl.FederatedDataset],
    models: Mapping[int, nn.Module],
    mine: Mapping[int, fl.Algorithm],
    **setting: Any,
) -> Idea:
    """End accuracy against η of FedAvg and of the reader's class. Slider: labels per client.

    ``feds``, ``models`` and ``mine``, the reader's class on its strata: labels per client → each.
    """
    figures: dict[float, go.Figure] = {}
    for labels, fed in feds.items():
        name, _ = _SPLITS[labels]
        curves = {}
        for rule_name, rule in (("FedAvg", fl.FedAvg()), ("strata", mine[labels])):
            ends = [end(fed, models[labels], rule, **setting | {"lr": rate}) for rate in RATES]
            curves[rule_name] = pd.Series(ends, index=list(RATES))
        size = setting["clients_per_round"]
        title = f"{name.capitalize()}, K = {size}, {own.whose(type(mine[labels]))}"
        figures[labels] = comparison_figures.over_rates(curves, title=title)
        figures[labels].update_yaxes(range=[0, 1])
    return gallery(figures, "labels per client", value=1.0)


def stored() -> Idea:
    """Validation accuracy against η of FedAvg, SCAFFOLD and FedSSO. Slider: labels per client."""
    figures: dict[float, go.Figure] = {}
    for labels, (name, partition) in _SPLITS.items():
        methods = ("FedAvg", "SCAFFOLD", "FedSSO")
        title = f"{name.capitalize()}, K = 20, three stored seeds"
        figures[labels] = rate_figures.stored(partition, methods, title=title)
        figures[labels].update_yaxes(range=[0, 1])
    return gallery(figures, "labels per client", value=1.0)


def at_best() -> go.Figure:
    """FedSSO less FedAvg and less SCAFFOLD, each at its best rate, seed by seed, on test images."""
    values = {
        f"{split}, less {other.replace('cohort', 'with 1/|S|')}": best_rates.ahead(
            partition, "FedSSO", other
        ).to_numpy()
        for split, partition, other in _PAIRS
    }
    return comparison_figures.differences(
        values, margin=best_rates.MARGIN, title="FedSSO less others, each at its best, K = 20"
    )
