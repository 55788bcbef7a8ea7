"""Figures of chapter 1: where FedAvg stops, and accuracy against skew and against local work."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import scene
from fedlab_course.check import own, registry
from fedlab_course.evidence import tables
from fedlab_course.explore import quadratics

_ = translator(__name__)

TAUS = (1, 2, 5, 10, 20, 50)
RATES = (0.01, 0.03, 0.1)
LOCAL_STEPS = 1500  # of a client until FedAvg has stopped, also at the smallest rate
ALPHAS = (0.05, 0.1, 0.3, 1.0, 10.0)
EPOCHS = (1, 5, 20)
SEEDS = (50, 51, 52)  # of the splits that are drawn here
_LOOKS = {  # of a rate of RATES: colour, dash, symbol
    0.01: (GROUPS[3], "9px,3px", "square"),
    0.03: (GROUPS[4], "3px,3px", "diamond"),
    0.1: (GROUPS[2], "solid", "circle"),
}
_LONGEST = 18  # letters of a line to the right of a curve
_RIGHT = 0.15  # from the last place on x to the end of the axis
_BEST = {"method": "FedAvg", "best_by": "rounds"}
# of a table: the rows of a split
_SPLITS: dict[str, dict[str, Any]] = {
    _("IID"): {"partition": "iid"},
    _("two labels"): {"partition": "labels_per_client", "labels_per_client": 2},
    _("one label"): {"partition": "labels_per_client", "labels_per_client": 1},
}
# split → its name in the table of best rates, and its colour
_BEST_OF = {
    _("IID"): ("iid", INK),
    _("two labels"): ("two_labels", GROUPS[1]),
    _("one label"): ("one_label", GROUPS[2]),
    _("Dirichlet 0.1"): ("dirichlet_0.1", GROUPS[3]),  # its runs at one rate have E = 5 alone
}


def opening() -> scene.Scene:
    """Two clients that make one local step a round: w walks to the optimum."""
    exercise = registry.get("00-local")
    local_update = own.mark(exercise.build(exercise.solution_source))
    panels = {_("one local step a round"): scene.Panel(local_update, 1)}
    return scene.play(panels, title=_("Two clients and one w"))


def end(local_update: scene.LocalUpdate, steps: int, rate: float) -> np.ndarray:
    """Where w is [2] after many rounds of the two clients in the plane."""
    w = np.array(quadratics.START)
    for _unused in range(-(-LOCAL_STEPS // steps)):
        models = [local_update(w.copy(), k, quadratics.gradient, rate, steps) for k in (0, 1)]
        w = np.mean(models, axis=0)
    return w


def in_the_plane(resting_point: Callable[..., Any]) -> scene.Place:
    """The function (τ, η) → where w stops [2]: ``resting_point(a, b, rho, eta, tau)`` in each
    direction.
    """
    rho = np.array([0.5, 0.5])

    def stops(steps: int, eta: float) -> list[Any]:
        return [resting_point(a, b, rho, eta, steps) for a, b in scene.DIRECTIONS]

    return stops if own.is_own(resting_point) else own.mark(stops)


def stopping(local_update: scene.LocalUpdate, stops: scene.Place) -> go.Figure:
    """The distance from the optimum at which FedAvg stops, against τ, for three rates.

    Lines: by the formula ``stops(steps, eta)`` [2]. Markers: runs of ``local_update``.
    """
    words = own.whose(local_update, stops)
    figure = new_figure(
        title=_("Formula (lines) and runs (markers), {words}").format(words=words),
        x_title=_("local steps τ in a round"),
        y_title=_("distance of w from the optimum"),
        legend=False,
    )
    figure.update_xaxes(type="log", tickvals=TAUS, ticktext=[str(tau) for tau in TAUS])
    rows = []
    for rate in RATES:
        colour, dash, symbol = _LOOKS[rate]
        every = np.arange(1, TAUS[-1] + 1)
        lines = [_away(stops(int(tau), rate)) for tau in every]
        line = {"color": colour, "dash": dash, "width": 2}
        figure.add_scatter(x=every, y=lines, mode="lines", line=line, name=f"η = {rate:g}")
        runs = [_away(end(local_update, tau, rate)) for tau in TAUS]
        marker = {"color": colour, "symbol": symbol, "size": 10}
        figure.add_scatter(x=TAUS, y=runs, mode="markers", marker=marker, name=_("runs"))
        _name(figure, np.log10(TAUS[-1]), lines[-1], f"η = {rate:g}", colour)
        pairs = zip(TAUS, runs, strict=True)
        rows += [[f"{rate:g}", tau, f"{lines[tau - 1]:.4f}", f"{run:.4f}"] for tau, run in pairs]
    phrases = "; ".join(f"η={rate}, τ={tau}: {run}" for rate, tau, _formula, run in rows)
    text = _("Distance from the optimum at which w stops, {words}. Runs: {phrases}.").format(
        words=words, phrases=phrases
    )
    set_description(figure, text, ["η", "τ", _("formula"), _("run")], rows)
    return figure


def _away(w: Any) -> float:
    return float(np.linalg.norm(np.asarray(w) - quadratics.CLIENTS.optimum))


def _name(figure: go.Figure, x: float, y: float, words: str, colour: str, shift: int = 0) -> None:
    """Write the name of a curve to the right of its end."""
    note = {"text": words, "font": {"color": colour}, "showarrow": False, "xanchor": "left"}
    figure.add_annotation(x=x, y=y, xshift=10, yshift=shift, **note)
    figure.update_layout(margin_r=150)


def by_alpha(label_distance: Callable[..., Any], data: fl.Dataset) -> go.Figure:
    """Accuracy against α, a dot for each stored seed, and below it the EMD of the clients by
    ``label_distance``, a dot for each split that is drawn here.
    """
    words = own.whose(label_distance)
    figure = new_figure(
        title=_("What skew costs"), x_title="", y_title="", height=560, legend=False
    )
    figure.update_layout(
        yaxis={"domain": [0.42, 1], "title": _("test accuracy"), "tickformat": ".0%"},
        yaxis2={"domain": [0, 0.3], "title": "EMD", "range": [0, 2], "anchor": "x"},
        xaxis={"title": _("α of Dirichlet"), "anchor": "y2"},
    )
    names = [*(f"{alpha:g}" for alpha in ALPHAS), _("IID")]
    _name_places(figure, names)
    splits: list[dict[str, Any]] = [{"partition": "dirichlet", "alpha": alpha} for alpha in ALPHAS]
    splits.append({"partition": "iid"})
    rows = []
    for name, measure, look in (
        (_("rounds 1 to 10"), "start_accuracy", (GROUPS[0], "circle-open", "9px,3px")),
        (_("rounds 46 to 50"), "end_accuracy", (INK, "square-open", "solid")),
    ):
        seeds = [tables.matching("first_skew", split)[measure] for split in splits]
        rows += _add_dots(figure, names, seeds, name, look)
    best = {"0.1": "dirichlet_0.1", "0.3": "dirichlet_0.3", _("IID"): "iid"}
    rows += _add_best(figure, names, {name: (split, 5) for name, split in best.items()}, GROUPS[4])
    _say_star(figure, x=1, y=1.05, colour=GROUPS[4])
    measured = _distances(label_distance, data)
    look = (GROUPS[3], "diamond-open", "3px,3px")
    name = _("EMD, {words}").format(words=words)
    rows += _add_dots(figure, names, measured, name, look, axes="2")
    _describe(figure, _("Accuracy and EMD against α"), rows)
    return figure


def _distances(label_distance: Callable[..., Any], data: fl.Dataset) -> list[list[float]]:
    """The mean EMD of 100 clients for each α and for IID, one for each of the seeds."""
    labels = np.asarray(data.train.y)
    classes = int(labels.max()) + 1

    def mean(parts: Sequence[Any]) -> float:
        return float(np.mean([label_distance(labels[part], labels, classes) for part in parts]))

    law = fl.partition.dirichlet
    found = [
        [mean(law(labels, num_clients=100, alpha=alpha, seed=seed)) for seed in SEEDS]
        for alpha in ALPHAS
    ]
    iid = [mean(fl.partition.iid(labels, num_clients=100, seed=seed)) for seed in SEEDS]
    return [*found, iid]


def by_epochs() -> go.Figure:
    """Accuracy after fifty rounds against the local epochs, for splits side by side: a dot for
    each stored seed at one rate, and a star for the mean at the best rate.
    """
    figure = new_figure(
        title=_("What local work costs"),
        x_title=_("local epochs E in a round"),
        y_title=_("accuracy in rounds 46 to 50"),
        height=560,
        legend=False,
    )
    figure.update_yaxes(tickformat=".0%", range=[0.44, 1.02])
    names = [str(epochs) for epochs in EPOCHS]
    _name_places(figure, names)
    rows = []
    looks = dict(zip(_SPLITS, ("circle-open", "square-open", "diamond-open"), strict=True))
    dashes = dict(zip(_SPLITS, ("solid", "9px,3px", "3px,3px"), strict=True))
    shifts = dict(zip(_BEST_OF, (-0.06, 0.0, 0.06, 0.12), strict=True))
    for split, where in _SPLITS.items():
        seeds = [
            tables.matching("skew_epochs", where | {"local_epochs": epochs})["end_accuracy"]
            for epochs in EPOCHS
        ]
        look = (_BEST_OF[split][1], looks[split], dashes[split])
        rows += _add_dots(figure, names, seeds, split, look, shift=shifts[split])
    for split, (name, colour) in _BEST_OF.items():
        best = {str(epochs): (name, epochs) for epochs in EPOCHS if _has_best(name, epochs)}
        rows += _add_best(figure, names, best, colour, of=split, shift=shifts[split])
    _say_star(figure, x=0.5, y=0.56, colour=INK)
    note = {"text": _("Dirichlet 0.1"), "font": {"color": GROUPS[3]}, "xanchor": "left"}
    figure.add_annotation(x=2 + _RIGHT, y=0.987, xshift=6, showarrow=False, **note)
    _describe(figure, _("Accuracy after fifty rounds against the local epochs"), rows)
    return figure


def _name_places(figure: go.Figure, names: Sequence[str]) -> None:
    """Make an x axis of the places 0, 1, … with these names."""
    last = len(names) - 1
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names))
    figure.update_xaxes(range=[-0.3, last + _RIGHT])


def _add_dots(
    figure: go.Figure,
    names: Sequence[str],
    seeds: Sequence[Any],
    name: str,
    look: tuple[str, str, str],
    *,
    axes: str = "",
    shift: float = 0.0,
) -> list[list[str]]:
    """Add a dot for each seed and a line through the means; return the rows of the table.

    The line ends before "IID", which has no α. ``shift``: how far to the right the dots are.
    """
    colour, symbol, dash = look
    form = ".2f" if axes else ".1%"
    place = {"yaxis": f"y{axes}", "hovertemplate": f"%{{y:{form}}}"}
    means = [float(np.mean(values)) for values in seeds]
    x = np.arange(len(names)) + shift
    gap = names.index(_("IID")) if _("IID") in names else len(names)
    figure.add_scatter(
        x=np.insert(x, gap, x[-1]),
        y=np.insert(means, gap, np.nan),
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2},
        marker={"symbol": "line-ew", "size": 14, "line": {"color": colour, "width": 2}},
        name=name,
        **place,
    )
    figure.add_scatter(
        x=np.repeat(x, [len(values) for values in seeds]),
        y=np.concatenate(seeds),
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": 7},
        name=_("{name}, seeds").format(name=name),
        **place,
    )
    words = "<br>".join(textwrap.wrap(name, _LONGEST))
    note = {"text": words, "font": {"color": colour}, "showarrow": False, "xanchor": "left"}
    end = {"x": len(names) - 1 + _RIGHT, "y": means[-1]}
    figure.add_annotation(**end, yref=f"y{axes}", xshift=6, align="left", **note)
    figure.update_layout(margin_r=170)
    return [
        [name, where, f"{mean:{form}}", str(len(values))]
        for where, mean, values in zip(names, means, seeds, strict=True)
    ]


def _has_best(partition: str, epochs: int) -> bool:
    """Whether runs at the best rate of this split and E are stored."""
    rows = tables.read("rated_digits")
    method = (rows["method"] == "FedAvg") & (rows["best_by"] == "rounds")
    return bool((method & (rows["partition"] == partition) & (rows["epochs"] == epochs)).any())


def _add_best(
    figure: go.Figure,
    names: Sequence[str],
    best: Mapping[str, tuple[str, int]],
    colour: str,
    of: str = "",
    shift: float = 0.0,
) -> list[list[str]]:
    """Add the mean accuracy at the best rate of a split and E, as a star for each place in
    ``best``; ``names`` of all places on x; ``shift`` as in :func:`_add_dots`.
    """
    means = {}
    for where, (split, epochs) in best.items():
        rows = tables.matching("rated_digits", _BEST | {"partition": split, "epochs": epochs})
        means[where] = float(rows["end_accuracy"].mean())
    marker = {"color": colour, "symbol": "star-open", "size": 13, "line": {"width": 2}}
    name = _("{name}, at its best η").format(name=of) if of else _("at its best η")
    figure.add_scatter(
        x=[names.index(where) + shift for where in means],
        y=list(means.values()),
        mode="lines+markers" if of else "markers",
        line={"color": colour, "dash": "dot", "width": 1},
        marker=marker,
        name=name,
        hovertemplate="%{y:.1%}",
    )
    return [[name, where, f"{mean:.1%}", "20"] for where, mean in means.items()]


def _say_star(figure: go.Figure, *, x: float, y: float, colour: str) -> None:
    words = _("☆ at its best η<br>(no star: not measured)")
    figure.add_annotation(x=x, y=y, text=words, font={"color": colour}, showarrow=False)


def _describe(figure: go.Figure, what: str, rows: Sequence[Sequence[str]]) -> None:
    table = pd.DataFrame(rows, columns=["curve", "at", "mean", "seeds"])
    phrases = [
        _("{name}: {values}").format(name=name, values=_means_in_words(part))
        for name, part in table.groupby("curve", sort=False)
    ]
    text = _("{what}, dots for the seeds and lines through their means. {phrases}.").format(
        what=what, phrases=_("; ").join(phrases)
    )
    set_description(figure, text, [_("curve"), _("at"), _("mean"), _("seeds")], rows)


def _means_in_words(part: pd.DataFrame) -> str:
    pairs = zip(part["at"], part["mean"], strict=True)
    return _(", ").join(_("{mean} at {at}").format(mean=mean, at=at) for at, mean in pairs)
