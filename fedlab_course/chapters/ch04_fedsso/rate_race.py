"""The race of chapter 4: over learning rates, and each method at its best."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go
from torch import nn

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course import comparison_figures
from fedlab_course.check import own
from fedlab_course.evidence import best_rates, rate_figures
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import named_slider

_ = translator(__name__)

_LOW_AND_HIGH = (0.05, 1.6)  # rates of the live runs, beside that of the chapter
_SPLITS = {1: (_("One label"), "one_label"), 2: (_("Two labels"), "two_labels")}
_SHOWN = {  # stored split → its heading
    "one label": _("one label"),
    "two labels": _("two labels"),
    "Dirichlet 0.1": _("Dirichlet 0.1"),
    "Dirichlet 0.3": _("Dirichlet 0.3"),
}
_AXES = {_("equal rounds"): "rounds", _("FedAvg's bytes"): "bytes"}
_TITLES = {
    "rounds": _("FedSSO less others, equal rounds, each at its best, K = 20"),
    "bytes": _("FedSSO less others, equal bytes, each at its best, K = 20"),
}
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
    fed: fl.FederatedDataset, model: nn.Module, mine: fl.Algorithm, **setting: Any
) -> go.Figure:
    """End accuracy of FedAvg and of ``mine``, the reader's class on its strata, at a small rate, at
    the rate ``lr`` of the ``setting`` and at a large one.

    ``fed``: clients with one label each.
    """
    rates = sorted({*_LOW_AND_HIGH, setting["lr"]})
    curves = {}
    for name, rule in (("FedAvg", fl.FedAvg()), (_("strata"), mine)):
        ends = [end(fed, model, rule, **setting | {"lr": rate}) for rate in rates]
        curves[name] = pd.Series(ends, index=rates)
    title = _("One label, K = {size}, {whose}").format(
        size=setting["clients_per_round"], whose=own.whose(type(mine))
    )
    return comparison_figures.over_rates(curves, title=title).update_yaxes(range=[0, 1])


def stored() -> Idea:
    """Validation accuracy against η of FedAvg, SCAFFOLD and FedSSO. Slider: labels per client."""
    figures: dict[float, go.Figure] = {}
    for labels, (name, partition) in _SPLITS.items():
        methods = ("FedAvg", "SCAFFOLD", "FedSSO")
        title = _("{split}, K = 20, three stored seeds").format(split=name)
        figures[labels] = rate_figures.stored(partition, methods, title=title)
        figures[labels].update_yaxes(range=[0, 1])
    return gallery(figures, _("labels per client"), value=1.0)


def switchable() -> Idea:
    """:func:`at_best` with a slider ``axis``: after equal rounds, or for FedAvg's bytes."""
    axis = named_slider(_("compared"), _AXES, "rounds", _("What is equal for all"))
    return Idea(at_best, {"axis": axis})


def at_best(axis: str = "rounds") -> go.Figure:
    """FedSSO less FedAvg and less SCAFFOLD, each at its best rate, seed by seed, on test images.

    ``axis``: "rounds" or "bytes", for which the rates are best.
    """
    groups = {}
    for split, heading in _SHOWN.items():
        stored_name = best_rates.SPLITS[split]
        groups[heading] = {
            _("less {name}").format(name=name): best_rates.ahead(
                stored_name, "FedSSO", other, axis
            ).to_numpy()
            for name, other in _OTHERS.items()
        }
    margin = best_rates.MARGIN
    return comparison_figures.grouped_differences(groups, margin=margin, title=_TITLES[axis])
