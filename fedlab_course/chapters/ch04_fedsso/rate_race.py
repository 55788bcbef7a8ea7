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

_LOW_AND_HIGH = (0.05, 1.6)  # rates of the live runs, beside that of the chapter
_SPLITS = {1: ("one label", "one_label"), 2: ("two labels", "two_labels")}
_SHOWN = ("one label", "two labels", "Dirichlet 0.1", "Dirichlet 0.3")
_OTHERS = {"FedAvg": "FedAvg", "SCAFFOLD": "SCAFFOLD", "SCAFFOLD, 1/|S|": "SCAFFOLD cohort"}


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
    """End accuracy of FedAvg and of the reader's class at a small rate, at the rate ``lr`` of the
    ``setting`` and at a large one. Slider: labels per client.

    ``feds``, ``models`` and ``mine``, the reader's class on its strata: labels per client → each.
    """
    rates = sorted({*_LOW_AND_HIGH, setting["lr"]})
    figures: dict[float, go.Figure] = {}
    for labels, fed in feds.items():
        name, _ = _SPLITS[labels]
        curves = {}
        for rule_name, rule in (("FedAvg", fl.FedAvg()), ("strata", mine[labels])):
            ends = [end(fed, models[labels], rule, **setting | {"lr": rate}) for rate in rates]
            curves[rule_name] = pd.Series(ends, index=rates)
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
    groups = {
        split: {
            f"less {name}": best_rates.ahead(best_rates.SPLITS[split], "FedSSO", other).to_numpy()
            for name, other in _OTHERS.items()
        }
        for split in _SHOWN
    }
    return comparison_figures.grouped_differences(
        groups, margin=best_rates.MARGIN, title="FedSSO less others, each at its best, K = 20"
    )
