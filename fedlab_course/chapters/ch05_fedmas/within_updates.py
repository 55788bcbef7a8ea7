"""TFedAvg and FedMas at their best learning rates, and after fifty server updates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch05_fedmas.chosen import CHOSEN, LOOKS, full_name
from fedlab_course.evidence import best_rates, rate_figures, tables
from fedlab_course.methods import forgotten
from fedlab_course.methods.forgotten import Followed

_ = translator(__name__)

_CROSSED = ("FedAvg", "tiers side by side", "random groups", "TFedAvg")  # two draws, two ways
RATED = (*_CROSSED, "one client an update")
_NAMES = {
    "tiers side by side": _("tiers side by side"),
    "random groups": _("random groups"),
    "one client an update": _("one client an update"),
    "one_step_long": _("FedAvg, one step a round, 500 rounds"),
}
UPDATES = 50
_LOWEST = 0.5  # accuracy in the figure of rates
_BELOW = 0.28  # rows between stored runs and those of the reader
_SPLIT = "one_label"


def over_rates() -> go.Figure:
    """End accuracy on validation samples against η, from ``_LOWEST`` up."""
    figure = rate_figures.stored(
        _SPLIT,
        _CROSSED,
        title=_("One label a client, 50 rounds"),
        names=_NAMES,
    )
    rate_figures.zoom(figure, _LOWEST)
    return figure


def rated() -> go.Figure:
    """What each adds to FedAvg after fifty rounds, seed by seed and each at its best rate, on seeds
    and test images that chose nothing; last FedAvg with as many local steps in 500 rounds.
    """
    fedavg = best_rates.judged(_SPLIT, "FedAvg", "rounds")
    ends = {name: best_rates.judged(_SPLIT, name, "rounds") for name in RATED[1:]}
    ends["one_step_long"] = tables.read("one_step_long").set_index("seed")["accuracy"]
    return comparison_figures.differences(
        {_NAMES.get(name, name): (found - fedavg).to_numpy() for name, found in ends.items()},
        margin=best_rates.MARGIN,
        title=_("Points above 50 rounds of FedAvg, 20 seeds"),
    )


def _stored_early() -> dict[str, pd.Series]:
    """Key of ``CHOSEN`` → the accuracy within ``UPDATES`` updates by stored seed, all but "tiers
    side by side, twice" with about as much training.
    """
    with_penalty = tables.read("tiers_early").set_index("seed")
    ends = {
        "FedAvg, one step": tables.read("one_step").set_index("seed")["accuracy"],
        "tiers side by side": tables.read("few_sides").set_index("seed")["accuracy"],
        "tiers side by side, twice": tables.read("few_sides_bytes").set_index("seed")["accuracy"],
        "TFedAvg": best_rates.judged(_SPLIT, "TFedAvg", "updates"),
    }
    for name in CHOSEN.keys() - ends.keys():
        ends[name] = with_penalty[with_penalty["method"] == name]["accuracy"]
    return {name: ends[name] for name in CHOSEN}


def fifty_updates(
    rules: Mapping[str, Callable[..., fl.Algorithm]],
    federation: Callable[[int], tuple[fl.FederatedDataset, Any, np.ndarray]],
    seeds: Sequence[int],
    **settings: Any,
) -> dict[str, list[Followed]]:
    """Runs of the whole rounds within ``UPDATES`` updates, one for each seed, with the λ and η of
    ``CHOSEN``.

    ``rules``: key of ``CHOSEN`` → a function of the tiers, and of λ if there is one;
    ``federation``: seed → clients, model and the tier or group of each client.
    """
    runs: dict[str, list[Followed]] = {name: [] for name in rules}
    for seed in seeds:
        fed, model, tiers = federation(seed)
        rounds = max(1, UPDATES // len(np.unique(tiers)))
        work = settings | {"rounds": rounds, "seed": seed, "progress": False}
        for name, rule in rules.items():
            strength, lr = CHOSEN[name]
            algorithm = rule(tiers, strength) if strength else rule(tiers)
            found = forgotten.follow(fed, model, algorithm, **work, lr=lr)
            runs[name].append(found)
    return runs


def after_fifty(runs: Mapping[str, Sequence[Followed]]) -> go.Figure:
    """A row for each method of ``CHOSEN``: a faint dot for each stored seed, a bar at their mean,
    and a ring for each of the reader's runs.

    ``runs``: key of ``CHOSEN`` → runs.
    """
    figure = new_figure(
        title=_("At most {updates} updates, each at its best setting").format(updates=UPDATES),
        x_title=_("test accuracy"),
        y_title="",
        height=680,
        legend=False,
    )
    rows = []
    for place, (key, ends) in enumerate(_stored_early().items()):
        mine = [run.accuracy for run in runs.get(key, ())]
        _add_row(figure, place, full_name(key), ends.tolist(), mine, LOOKS[key])
        spread = f"{ends.mean():.1%} ± {ends.std():.1%}"
        rows.append([full_name(key), spread, _(", ").join(f"{value:.0%}" for value in mine)])
    names = [row[0] for row in rows]
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.5, -0.9]
    )
    figure.update_xaxes(range=[0, 1.01], tickformat=".0%")
    text = _(
        "Dot chart of test accuracy: a dot for each of 20 stored seeds, a bar for their mean, and "
        "a ring for each live run."
    )
    columns = [_("method"), _("stored, mean ± standard deviation"), _("live runs")]
    set_description(figure, text, columns, rows)
    return figure


def _add_row(
    figure: go.Figure,
    place: int,
    name: str,
    stored: Sequence[float],
    mine: Sequence[float],
    look: Look,
) -> None:
    """Add the dots of the stored runs, their mean with its number, and below it the rings of the
    reader's runs.
    """
    colour = look.colour
    figure.add_scatter(
        x=list(stored),
        y=[place] * len(stored),
        mode="markers",
        marker={"color": colour, "size": 8, "opacity": 0.35},
        hovertemplate=_("%{{x:.1%}}<extra>a stored run, {name}</extra>").format(name=name),
    )
    mean = float(np.mean(stored))
    bar = {"symbol": "line-ns", "size": 22, "line": {"width": 4, "color": colour}}
    figure.add_scatter(
        x=[mean],
        y=[place],
        mode="markers+text",
        text=[f"<b>{mean:.0%}</b>"],
        textposition="top center",
        textfont={"color": colour},
        marker=bar,
        hovertemplate=_("%{{x:.1%}}<extra>mean, {name}</extra>").format(name=name),
    )
    figure.add_scatter(
        x=list(mine),
        y=[place + _BELOW] * len(mine),
        mode="markers",
        marker={"color": colour, "size": 9, "symbol": "circle-open", "line": {"width": 2}},
        hovertemplate=_("%{{x:.1%}}<extra>a live run, {name}</extra>").format(name=name),
    )
