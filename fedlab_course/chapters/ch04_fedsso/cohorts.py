"""How much the mean of a cohort varies: between strata, within them, and what a draw leaves."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import theory
from fedlab_course.evidence import tables

_ = translator(__name__)

Draw = Callable[[np.ndarray, int, int], Any]

COHORTS = 2000  # that measure what a draw leaves
_SPLITS = {"one label": _("one label"), "two labels": _("two labels")}
_STRATA = {"labels": _("true groups"), "optics": _("FedSSO's clusters")}
_SHARE = _("share of the variance of a blind cohort")
_LEFT = _("left by the draw")


def between(models: Any, strata: np.ndarray) -> float:
    """The share of the variance of ``models`` [N, P] that lies between the ``strata`` [N], 0 to 1.

    Total = between + within: the mean squared distance from the mean of all, and the part of it
    that the means of the strata have.
    """
    values = np.asarray(models, dtype=float)
    centred = values - values.mean(axis=0)
    total = np.square(centred).sum(axis=1).mean()
    part = 0.0
    for stratum in np.unique(strata):
        members = centred[strata == stratum]
        part += len(members) / len(values) * np.square(members.mean(axis=0)).sum()
    return float(part / total)


def left(models: Any, strata: np.ndarray, draw: Draw, clients_per_round: int) -> float:
    """The variance of a cohort's mean under ``draw``, as a share of that of a blind cohort.

    ``draw(labels, start, num_drawn)`` returns a cohort. Before each of ``COHORTS`` draws the
    clients are shuffled and a start is drawn. The blind variance is the closed form.
    """
    values = np.asarray(models, dtype=float)
    centred = values - values.mean(axis=0)
    products = centred @ centred.T  # [N, N]: ‖mean of S‖² is the mean of its entries in S × S
    rng = np.random.default_rng(0)
    found = []
    for _unused in range(COHORTS):
        shuffled = rng.permutation(len(values))
        start = int(rng.integers(len(values) // clients_per_round))
        cohort = shuffled[np.asarray(draw(strata[shuffled], start, clients_per_round))]
        found.append(products[np.ix_(cohort, cohort)].mean())
    return float(np.mean(found) / theory.simple_variance(values, clients_per_round))


def parts(splits: Mapping[str, tuple[Any, np.ndarray]], draw: Draw, *, title: str) -> go.Figure:
    """A bar for each split: the variance between strata and within them, and a diamond for what
    ``draw`` leaves of it in the mean of a cohort of ten.

    ``splits``: name → (models [N, P], strata [N]).
    """
    figure = new_figure(title=title, x_title=_SHARE, y_title="", height=300)
    names = list(splits)
    shares = np.array([between(*given) for given in splits.values()])
    remains = [left(*given, draw, 10) for given in splits.values()]
    for name, values, colour, shape in (
        (_("within strata"), 1 - shares, GROUPS[1], "/"),
        (_("between strata"), shares, GROUPS[0], ""),
    ):
        figure.add_bar(
            x=values,
            y=names,
            orientation="h",
            name=name,
            marker={"color": colour, "pattern": {"shape": shape, "solidity": 0.3}},
            hovertemplate=f"{name}: %{{x:.1%}}<extra>%{{y}}</extra>",
        )
    figure.add_scatter(
        x=remains,
        y=names,
        mode="markers+text",
        name=_LEFT,
        marker={"symbol": "diamond", "size": 14, "color": INK},
        text=[_("<b>{value:.1%} left</b>").format(value=value) for value in remains],
        textposition="top right",
        hovertemplate=_LEFT + ": %{x:.1%}<extra>%{y}</extra>",
    )
    figure.update_layout(barmode="stack", bargap=0.55)
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%")
    figure.update_yaxes(autorange="reversed", ticks="")
    rows = [
        [name, f"{share:.1%}", f"{1 - share:.1%}", f"{remain:.1%}"]
        for name, share, remain in zip(names, shares, remains, strict=True)
    ]
    phrase = _("{name}: {between} between, {within} within, {left} left")
    keys = ("name", "between", "within", "left")
    phrases = [phrase.format(**dict(zip(keys, row, strict=True))) for row in rows]
    text = _("Shares of the variance of a blind cohort's mean. {phrases}.")
    text = text.format(phrases=_("; ").join(phrases))
    set_description(figure, text, [_("split"), _("between"), _("within"), _LEFT], rows)
    return figure


def stored_left() -> go.Figure:
    """What a draw from true groups and from FedSSO's clusters leaves of the variance of a blind
    cohort: stored, a dot for each seed.
    """
    figure = new_figure(
        title=_("Variance left, stored seeds"),
        x_title=_SHARE,
        y_title="",
        height=330,
        legend=False,
    )
    rows = []
    for split, name in _SPLITS.items():
        for strata, kind in _STRATA.items():
            ratios = tables.matching("strata", {"split": split, "strata": strata})["ratio"]
            row = _("{split}, {strata}").format(split=name, strata=kind)
            number = list(_STRATA).index(strata)
            figure.add_scatter(
                x=ratios,
                y=[row] * len(ratios),
                mode="markers",
                marker={
                    "symbol": ("circle-open", "square-open")[number],
                    "size": 10,
                    "color": GROUPS[2 * number],
                    "line": {"width": 2},
                },
                hovertemplate=_("one seed") + ": %{x:.1%}<extra>" + row + "</extra>",
            )
            rows.append([row, f"{ratios.mean():.1%}", len(ratios)])
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%")
    figure.update_yaxes(autorange="reversed", ticks="", type="category")
    phrases = _("; ").join(f"{row[0]} {row[1]}" for row in rows)
    text = _("Share of the variance that is left, a dot for each seed. Means: {phrases}.")
    columns = [_("strata"), _("mean"), _("seeds")]
    set_description(figure, text.format(phrases=phrases), columns, rows)
    return figure
