"""What can be measured of clients that differ: the gap Γ, noise and dissimilarity, and how many
rounds local work saves.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch10_bounds.figures import Round
from fedlab_course.check import own
from fedlab_course.evidence import tables

_ = translator(__name__)

Gap = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
_CURVATURES = np.arange(1.0, 6.5, 0.5)  # of the second client
_TAU = 10
_ROUNDS = 1000
_STORED = {_("IID"): "iid", _("two labels"): "two_labels", _("one label"): "one_label"}
_LOOKS = {
    _("IID"): (INK, "solid"),
    _("two labels"): (GROUPS[0], "9px,3px"),
    _("one label"): (GROUPS[2], "4px,3px"),
}


def height_of_drift(one_round: Round, second: float) -> float:
    """How high the drift line is: F(w) − F(w*) times (i/(τ − 1))², after i local steps without
    noise, for clients with curvatures 1 and ``second`` and optima 0 and 1.
    """
    a = np.array([[1.0], [second]])
    b = np.array([[0.0], [1.0]])
    gamma = 8 * second
    w = np.zeros(1)
    silent = np.zeros((_TAU, 2, 1))
    for number in range(_ROUNDS):
        w = np.asarray(one_round(w, a, b, 2 / (number * _TAU + gamma), silent))
    optimum = float((a * b).sum() / a.sum())
    excess = float(a.mean()) / 2 * (float(w[0]) - optimum) ** 2
    return excess * ((_ROUNDS * _TAU + gamma) / (_TAU - 1)) ** 2


def gap_and_drift(heterogeneity_gap: Gap, one_round: Round) -> go.Figure:
    """Γ above, and the height of the drift line below, against the curvature of the second of two
    clients.
    """
    rho = np.array([0.5, 0.5])
    b = np.array([0.0, 1.0])
    gaps = [float(heterogeneity_gap(np.array([1.0, a]), b, rho)) for a in _CURVATURES]
    drifts = [height_of_drift(one_round, a) for a in _CURVATURES]
    words = own.whose(heterogeneity_gap, one_round)
    figure = new_figure(
        title=_("Optima 0 and 1, {words}").format(words=words),
        x_title=_("curvature of client 2 (client 1 has 1)"),
        y_title=_("height of drift"),
        height=460,
        legend=False,
    )
    panels = (
        (_("gap Γ"), gaps, INK, "9px,3px", "y2"),
        (_("height of drift"), drifts, GROUPS[2], "solid", "y"),
    )
    for name, values, colour, dash, axis in panels:
        line = {"color": colour, "dash": dash, "width": 3}
        figure.add_scatter(
            x=_CURVATURES, y=values, name=name, yaxis=axis, mode="lines+markers", line=line
        )
    figure.update_xaxes(range=[0.8, 6.2])
    figure.update_yaxes(domain=[0, 0.45], range=[-0.05, 1.1 * max(drifts)])
    upper = {"domain": [0.55, 1], "range": [-0.02, 1.2 * max(gaps)], "anchor": "x"}
    figure.update_layout(yaxis2=upper | {"title": {"text": _("gap Γ")}})
    rows = [
        [f"{a:g}", f"{gap:.3f}", f"{drift:.3f}"]
        for a, gap, drift in zip(_CURVATURES, gaps, drifts, strict=True)
    ]
    _describe_gap(figure, rows, words)
    return figure


def _describe_gap(figure: go.Figure, rows: Sequence[Sequence[str]], words: str) -> None:
    text = _(
        "The gap Γ and the height of the drift line against the curvature of client 2, {words}. "
        "With equal curvatures Γ is {gap_first} and the drift {drift_first}; at {last} they are "
        "{gap_last} and {drift_last}."
    ).format(
        words=words,
        gap_first=rows[0][1],
        drift_first=rows[0][2],
        last=rows[-1][0],
        gap_last=rows[-1][1],
        drift_last=rows[-1][2],
    )
    set_description(figure, text, [_("curvature"), "Γ", _("height of drift")], rows)


def constants() -> dict[str, dict[str, float]]:
    """Γ, G² and the noise of softmax regression with a ridge of 1, for three deals to 20 clients:
    means of the stored seeds.

    All are taken at the common optimum: G² = Σ ρ_k ‖∇F_k‖², and the noise is Σ ρ_k σ_k².
    """
    found = {}
    for name, split in _STORED.items():
        rows = tables.matching("constants", {"split": split})
        square = float((rows["dissimilarity"] ** 2).mean())
        found[name] = {
            "gap": float(rows["gap"].mean()),
            "G²": square,
            "noise": float(rows["noise"].mean()),
        }
    return found


def totals() -> np.ndarray:
    """Noise plus G² of each stored seed, in a column for each of the three deals [10, 3]."""
    columns = []
    for split in _STORED.values():
        rows = tables.matching("constants", {"split": split}).sort_values("seed")
        columns.append((rows["noise"] + rows["dissimilarity"] ** 2).to_numpy())
    return np.column_stack(columns)


def shares() -> go.Figure:
    """Bars of noise and G² for each deal, one on the other, with Γ beside them."""
    found = constants()
    figure = new_figure(
        title=_("Softmax regression, 20 clients"),
        x_title=_("variance of a sample's gradient at w*"),
        y_title="",
        height=320,
        legend=False,
    )
    names = list(found)
    for part, words, colour in (("noise", _("noise"), GREY), ("G²", "G²", GROUPS[2])):
        values = [found[name][part] for name in names]
        figure.add_bar(
            x=values,
            y=names,
            orientation="h",
            marker={"color": colour},
            text=[f"{words} {value:.2f}" for value in values],
            textposition=["inside" if value > 1 else "none" for value in values],
            insidetextfont={"color": "white"},
            textangle=0,
        )
    for name in names:
        total = found[name]["noise"] + found[name]["G²"]
        note = {"text": f"Γ = {found[name]['gap']:.2f}", "showarrow": False, "xanchor": "left"}
        figure.add_annotation(x=total, y=name, xshift=8, **note)
    figure.update_layout(barmode="stack", margin_r=90)
    figure.update_yaxes(autorange="reversed", showline=False, ticks="")
    rows = [
        [name, *(f"{found[name][part]:.3f}" for part in ("gap", "G²", "noise"))] for name in names
    ]
    phrase = _("{name}: Γ {gap}, G² {square}, noise {noise}")
    told = _("; ").join(
        phrase.format(name=name, gap=gap, square=square, noise=noise)
        for name, gap, square, noise in rows
    )
    text = _("Bars of the noise inside clients and of G² between them. {phrases}.")
    text = text.format(phrases=told)
    set_description(figure, text, [_("deal"), "Γ", "G²", _("noise")], rows)
    return figure


def local_work() -> go.Figure:
    """Rounds of FedAvg to a training loss of 0.5 against local epochs: a dot for each stored seed,
    a ring where a seed has the fewest, and lines through the geometric means.
    """
    rows = tables.matching("local_work", {"algorithm": "fedavg"})
    figure = new_figure(
        title=_("FedAvg at η = 0.05, ten seeds"),
        x_title=_("local epochs E"),
        y_title=_("rounds to a training loss of 0.5"),
        legend=False,
    )
    ends = {}
    told = []
    for name, split in _STORED.items():
        mine = rows[rows["split"] == split]
        middle = 2 ** mine.groupby("local_epochs")["log2_rounds"].mean()
        colour, dash = _LOOKS[name]
        dots = {"color": colour, "size": 6, "opacity": 0.5}
        figure.add_scatter(x=mine.local_epochs, y=mine["rounds"], mode="markers", marker=dots)
        best = mine.sort_values(["rounds", "local_epochs"]).groupby("seed").head(1)
        ring = {"color": colour, "size": 12, "symbol": "circle-open"}
        figure.add_scatter(
            x=best.local_epochs, y=best["rounds"], name=_("best E"), mode="markers", marker=ring
        )
        line = {"color": colour, "dash": dash, "width": 3}
        figure.add_scatter(x=middle.index, y=middle, name=name, mode="lines", line=line)
        ends[name] = (float(np.log10(middle.index[-1])), float(np.log10(middle.iloc[-1])))
        told.append([name, *(f"{middle[epochs]:.1f}" for epochs in (1, 5, 40, 160))])
    epochs = sorted(rows.local_epochs.unique())
    figure.update_xaxes(type="log", tickvals=epochs, ticktext=[f"{one:g}" for one in epochs])
    counts = [3, 10, 30, 100, 200]
    figure.update_yaxes(type="log", tickvals=counts, ticktext=[str(one) for one in counts])
    colours = {name: colour for name, (colour, _dash) in _LOOKS.items()}
    comparison_figures.name_ends(figure, ends, colours, 2.0)
    phrases = _("; ").join(
        _("{name}: {values}").format(name=name, values=_(", ").join(values))
        for name, *values in told
    )
    text = _("Rounds to a training loss of 0.5 with 1, 5, 40 and 160 local epochs. {phrases}.")
    text = text.format(phrases=phrases)
    set_description(figure, text, [_("clients"), "E = 1", "5", "40", "160"], told)
    return figure
