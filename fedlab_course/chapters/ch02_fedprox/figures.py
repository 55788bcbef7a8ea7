"""What μ buys and what it costs: where FedProx stops, how soon, and how much clients move less."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, METHODS
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import tables

_ = translator(__name__)
_NEAR = 0.01  # of the first distance to the stopping point
_RATE = 0.05  # of the stored runs, in which a client makes 10 steps
_STEPS = 10
_ROUND_TICKS = [3, 5, 10, 20, 50, 100]
_SHIFTS = {"mu": -7, "tau": 12, "eta": 5}  # of the names, in pixels
_LETTERS = {"mu": "μ", "tau": "τ", "eta": "η"}
# Name → the setting of a path that it changes, its values, colour and dash.
_RIVALS: dict[str, tuple[str, Sequence[float], str, str]] = {
    "FedProx": ("mu", (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 12.9), METHODS["fedprox"], "solid"),
    _("FedAvg, fewer steps"): ("tau", (10, 8, 6, 5, 4, 3, 2, 1), METHODS["fedavg"], "solid"),
    _("FedAvg, smaller η"): (
        "eta",
        (0.1, 0.08, 0.05, 0.03, 0.02, 0.01),
        METHODS["fedavg"],
        "5px,3px",
    ),
}
_PANELS = {"yaxis": (0.56, 1.0), "yaxis2": (0.0, 0.42)}


def rounds_needed(path: np.ndarray) -> int:
    """The rounds until a path [rounds + 1] has come, to stay, within 1 % of its way to its end."""
    left = np.abs(path - path[-1])
    return int((left > _NEAR * left[0]).nonzero()[0].max()) + 1


def stops(fedprox: Callable[[float], np.ndarray], optimum: float) -> go.Figure:
    """Where FedProx stops, and after how many rounds, against μ.

    ``fedprox``: μ → w before the first round and after each round.
    """
    strengths = np.append(np.arange(0.0, 16.6, 0.5), 16.6)
    paths = [np.asarray(fedprox(mu), dtype=float) for mu in strengths]
    ends = np.array([path[-1] for path in paths])
    needed = np.array([rounds_needed(path) for path in paths])
    figure = _two_curves(strengths, ends, needed, optimum)
    best = int(ends.argmax())
    text = _(
        "Two curves against μ. FedProx stops at {first:.4f} for μ = 0, at most at {highest:.4f}, "
        "near μ = {best:g}, and at {last:.4f} for μ = 16.6; the optimum is {optimum:g}. Rounds to "
        "the last hundredth of the way: {fewest} for μ = 0, {most} at most."
    ).format(
        first=ends[0],
        highest=ends[best],
        best=strengths[best],
        last=ends[-1],
        optimum=optimum,
        fewest=needed[0],
        most=needed.max(),
    )
    rows = [
        [f"{mu:g}", f"{end:.4f}", int(count)]
        for mu, end, count in zip(strengths[::4], ends[::4], needed[::4], strict=True)
    ]
    set_description(figure, text, ["μ", _("FedProx stops at"), _("rounds")], rows)
    return figure


def _two_curves(
    strengths: np.ndarray, ends: np.ndarray, needed: np.ndarray, optimum: float
) -> go.Figure:
    """The stopping points against μ, and below them the rounds needed, both [n]."""
    figure = new_figure(
        title=_("What μ buys, and what it costs"),
        x_title=_("proximal strength μ"),
        y_title=_("FedProx stops at"),
        height=440,
        legend=False,
    )
    look = {"color": METHODS["fedprox"], "width": 3}
    figure.add_scatter(x=strengths, y=ends, mode="lines", name=_("FedProx stops at"), line=look)
    figure.add_scatter(
        x=strengths, y=needed, yaxis="y2", mode="lines", name=_("rounds needed"), line=look
    )
    figure.add_hline(y=optimum, line={"color": GREY, "width": 2, "dash": "dot"})
    note = {"text": _("optimum"), "font": {"color": GREY}, "showarrow": False, "yanchor": "bottom"}
    figure.add_annotation(x=0.3, y=optimum, xanchor="left", **note)
    figure.update_layout(
        yaxis_domain=_PANELS["yaxis"],
        yaxis_range=[0.58, 0.775],
        xaxis_anchor="y2",
        yaxis2={
            "domain": _PANELS["yaxis2"],
            "title": _("rounds to 1 %<br>of its own stop"),
            "anchor": "x",
            "rangemode": "tozero",
        },
    )
    return figure


def rivals(path: Callable[..., np.ndarray], optimum: float) -> go.Figure:
    """Where a run stops against the rounds that it needs: FedProx by μ, FedAvg by τ and by η.

    ``path``: (mu, eta, tau) → w before the first round and after each round; μ = 0 is FedAvg.
    """
    figure = new_figure(
        title=_("Three ways to move less in a round"),
        x_title=_("rounds to 1 % of its own stop"),
        y_title=_("stops at"),
        legend=False,
    )
    rows = []
    for name, (setting, values, colour, dash) in _RIVALS.items():
        paths = [np.asarray(path(**{setting: value}), dtype=float) for value in values]
        needed = [rounds_needed(way) for way in paths]
        ends = [float(way[-1]) for way in paths]
        labels = [f"{_LETTERS[setting]} = {value:g}" for value in values]
        figure.add_scatter(
            x=needed,
            y=ends,
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 8, "symbol": "circle" if dash == "solid" else "circle-open"},
            customdata=labels,
            hovertemplate=_("%{customdata}: stops at %{y:.4f}, %{x} rounds")
            + f"<extra>{name}</extra>",
        )
        note = {"text": f"{name}: {labels[-1]}", "font": {"color": colour}, "showarrow": False}
        place = {"x": np.log10(needed[-1]), "y": ends[-1], "xanchor": "left", "xshift": 10}
        figure.add_annotation(**note, **place, yshift=_SHIFTS[setting])
        rows += [
            [name, label, f"{end:.4f}", count]
            for label, end, count in zip(labels, ends, needed, strict=True)
        ]
    figure.add_hline(y=optimum, line={"color": GREY, "width": 2, "dash": "dot"})
    figure.update_xaxes(type="log", tickvals=_ROUND_TICKS, range=[0.4, 2.0], dtick=None)
    text = _(
        "Stopping points against rounds, a curve each for μ, for fewer steps, for a smaller rate."
    )
    columns = [_("method"), _("setting"), _("stops at"), _("rounds")]
    set_description(figure, text, columns, rows)
    return figure


def moves() -> go.Figure:
    """The drift of FedProx as a part of FedAvg's, against μητ, a dot for each stored seed."""
    rows = tables.matching("drift_digits", {"labels_per_client": 2}).sort_values("seed")
    drifts = rows.fillna({"mu": 0.0})
    plain = drifts[drifts.algorithm == "fedavg"].drift.to_numpy()
    proximal = drifts[drifts.algorithm == "fedprox"]
    figure = new_figure(
        title=_("How far clients move, FedAvg = 100 %"),
        x_title="μητ",
        y_title=_("drift, as a part of FedAvg's"),
        legend=False,
    )
    figure.add_hline(y=1.0, line={"color": INK, "width": 1})
    table = []
    products = []
    for mu, group in proximal.groupby("mu"):
        parts = group.drift.to_numpy() / plain
        products.append(float(mu) * _RATE * _STEPS)
        _add_parts(figure, products[-1], float(mu), parts)
        table.append([f"{mu:g}", f"{products[-1]:g}", f"{parts.mean():.1%}", len(parts)])
    figure.update_xaxes(
        type="log", tickvals=products, ticktext=[f"{one:g}" for one in products], range=[-2.7, 0.1]
    )
    figure.update_yaxes(range=[0.8, 1.04], tickformat=".0%")
    phrases = _("; ").join(
        _("μ = {mu}: {part} at μητ = {product}").format(mu=mu, part=part, product=product)
        for mu, product, part, _seeds in table
    )
    text = _("Drift of FedProx as a part of FedAvg's, a dot for each seed. {phrases}.")
    columns = ["μ", "μητ", _("mean part"), _("seeds")]
    set_description(figure, text.format(phrases=phrases), columns, table)
    return figure


def _add_parts(figure: go.Figure, product: float, mu: float, parts: np.ndarray) -> None:
    """Add the dots of one strength, and its name with their mean."""
    colour = METHODS["fedprox"]
    figure.add_scatter(
        x=[product] * len(parts),
        y=parts,
        mode="markers",
        name=_("μ = {mu:g}, one seed each").format(mu=mu),
        marker={"symbol": "circle-open", "size": 9, "color": colour, "line": {"width": 1.5}},
        hovertemplate="%{y:.1%}<extra>" + _("one seed") + "</extra>",
    )
    figure.add_annotation(
        x=np.log10(product),
        y=float(parts.min()),
        text=f"μ = {mu:g}: {parts.mean():.1%}",
        font={"color": colour},
        showarrow=False,
        yanchor="top",
        yshift=-10,
    )
