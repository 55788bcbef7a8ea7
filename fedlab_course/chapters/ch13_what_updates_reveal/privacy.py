"""What differential privacy of a run costs: ε from the noise, and accuracy over stored seeds."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.optimize import brentq
from scipy.stats import norm

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.evidence import tables
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_ = translator(__name__)
TABLE = "private_runs"
DELTA = 1e-5
_ROUNDS = 30
_CLIENTS = 100
_NOISES = (1.0, 5.0, 20.0)  # in the sum
Loss = Callable[[float, float], Any]  # the reader's δ of ε and z


def delta(epsilon: float, noise: float, rounds: int) -> float:
    """The least δ at this ε, if all clients take part in so many rounds with normal noise σκ on a
    sum that one client changes by at most κ (Balle and Wang 2018, theorem 8).
    """
    z = math.sqrt(rounds) / noise
    tail = math.exp(epsilon + norm.logcdf(-epsilon / z - z / 2))
    return float(norm.cdf(-epsilon / z + z / 2) - tail)


def epsilon(noise: float, rounds: int = _ROUNDS) -> float:
    """The least ε for δ = 10⁻⁵; infinite without noise."""
    if noise == 0:
        return math.inf
    return _least(lambda e: delta(e, noise, rounds), math.sqrt(rounds) / noise)


def _least(delta_at: Callable[[float], Any], z: float) -> float:
    """The least ε at which ``delta_at`` is 10⁻⁵ or less, for two bells a distance ``z`` apart."""
    if delta_at(0.0) < DELTA:
        return 0.0
    most = z**2 / 2 + 10 * z  # there δ is below Φ(−10)
    return float(brentq(lambda e: float(delta_at(e)) - DELTA, 0.0, most))


def bells(delta_of: Loss) -> Idea:
    """What one number tells of a client: its density without the client, N(0, 1), and with it,
    N(z, 1). The area by which the second is above e^ε times the first is the reader's δ.
    """
    words = own.whose(delta_of)

    def draw(noise: float, epsilon: float) -> go.Figure:
        z = math.sqrt(_ROUNDS) / noise
        least = float(delta_of(epsilon, z))
        told = {"z": z, "epsilon": epsilon, "least": least, "words": words}
        figure = new_figure(
            title=_("z = {z:.2g}: δ({epsilon:g}) = {least:.2g}, {words}").format(**told),
            x_title=_("what is seen, in units of its noise"),
            y_title=_("density"),
            legend=False,
            height=340,
        )
        _add_bells(figure, z, epsilon)
        text = _(
            "Two bells a distance z = {z:.2g} apart, for σ = {noise:g} and {rounds} rounds. The "
            "area of the right one above e to the {epsilon:g} times the left one is {least:.2g}, "
            "{words}."
        ).format(noise=noise, rounds=_ROUNDS, **told)
        rows = [[f"{noise:g}", f"{z:.3g}", f"{epsilon:g}", f"{least:.3g}"]]
        set_description(figure, text, ["σ", "z", "ε", "δ"], rows)
        return figure

    noises = slider(_("σ in the sum"), (1.0, 2.0, 5.0, 20.0), 5.0, _("noise in the sum"))
    limits = slider("ε", (0.1, 0.5, 1.0, 2.0, 5.0), 1.0, _("how much the odds may change"))
    return Idea(draw, {"noise": noises, "epsilon": limits})


def _add_bells(figure: go.Figure, z: float, epsilon: float) -> None:
    """Both densities, e^ε times the first, and the area of the second above it."""
    x = np.linspace(-4, 10, 561)
    without = norm.pdf(x)
    with_client = norm.pdf(x - z)
    raised = math.exp(epsilon) * without
    none = {"width": 0}
    fill: dict[str, Any] = {"fill": "tonexty", "fillcolor": rgba(GROUPS[2], 0.5)}
    figure.add_scatter(x=x, y=np.minimum(raised, with_client), mode="lines", line=none)
    figure.add_scatter(x=x, y=with_client, mode="lines", line=none, **fill)
    for y, colour, dash in (
        (without, GREY, "solid"),
        (raised, GREY, "dot"),
        (with_client, GROUPS[0], "solid"),
    ):
        line = {"color": colour, "dash": dash, "width": 2.5}
        figure.add_scatter(x=x, y=y, mode="lines", line=line)
    labels = (
        (-0.5, "right", 0.36, _("without the client"), GREY),
        (z + 0.5, "left", 0.36, _("with the client"), GROUPS[0]),
        (z + 1.6, "left", 0.2, _("δ: blue above e<sup>ε</sup> times grey (dotted)"), GROUPS[2]),
    )
    for place, anchor, height, words, colour in labels:
        note = {"text": words, "font": {"color": colour}, "bgcolor": rgba(PAPER, 0.8)}
        figure.add_annotation(x=place, y=height, xanchor=anchor, showarrow=False, **note)
    figure.update_yaxes(range=[0, 0.46])


def cost(delta_of: Loss) -> go.Figure:
    """Accuracy at the end against ε: a small dot for each of 20 stored seeds, a large one at their
    mean. Below is the ε of those who see the models, by the reader's δ, and above that of those
    who see every move, where each client adds a tenth of the noise in the sum.
    """
    rows = tables.read(TABLE).set_index("algorithm").end_accuracy
    figure = new_figure(
        title=_("κ = 0.3, η = 0.1, 30 rounds of 100 clients, 20 seeds, {words}").format(
            words=own.whose(delta_of)
        ),
        x_title=_("ε for those who see only models (δ = 10⁻⁵)"),
        y_title=_("test accuracy at the end"),
        legend=False,
    )
    clipped = rows["sigma=0"].mean()
    figure.add_hline(y=clipped, line={"color": GREY, "dash": "dot", "width": 2})
    words = _("clipped, no noise: ε = ∞")
    note = {"text": words, "showarrow": False, "font": {"color": GREY}}
    figure.add_annotation(x=0, xref="paper", xanchor="left", y=clipped, yshift=14, **note)
    lines = []
    places: list[float] = []
    for noise in _NOISES:
        ends = rows[f"sigma={noise:g}"]
        spent = _by(delta_of, noise)
        name = f"σ = {noise:g}"
        _add_runs(figure, name, spent, ends)
        places.append(spent)
        alone = f"{epsilon(noise / math.sqrt(_CLIENTS)):,.0f}"
        values = [f"{ends.mean():.1%}", f"{ends.min():.1%}", f"{ends.max():.1%}"]
        lines.append([name, f"{spent:.1f}", alone, *values])
    lines.append([_("no noise"), "∞", "∞", f"{clipped:.1%}", "", ""])
    figure.update_xaxes(type="log", range=[-0.3, 2.3], tickvals=[1, 3, 10, 30, 100])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    _upper_axis(figure, places, [line[2] for line in lines[: len(places)]])
    _describe_cost(figure, lines)
    return figure


def _describe_cost(figure: go.Figure, lines: Sequence[Sequence[str]]) -> None:
    told = _("; ").join(
        _("{noise}: ε {epsilon}, accuracy {accuracy}").format(
            noise=line[0], epsilon=line[1], accuracy=line[3]
        )
        for line in lines
    )
    text = _(
        "Accuracy after 30 rounds of 100 clients against ε. Who sees every move has the upper "
        "ε only if each client adds s = σ/10. {told}."
    ).format(told=told)
    heads = [_("noise in the sum"), _("ε, models seen"), _("ε, moves seen")]
    set_description(figure, text, [*heads, _("mean"), _("least"), _("most")], lines)


def _add_runs(figure: go.Figure, name: str, spent: float, ends: pd.Series) -> None:
    """Add the runs with one noise: a small dot each, and a large mark at their mean."""
    small = {"color": GROUPS[0], "size": 5}
    figure.add_scatter(x=[spent] * len(ends), y=ends, mode="markers", marker=small)
    figure.add_scatter(
        x=[spent],
        y=[ends.mean()],
        mode="markers+text",
        text=[name],
        textposition="bottom right",
        marker={"color": INK, "size": 12, "symbol": "diamond"},
    )


def _by(delta_of: Loss, noise: float) -> float:
    """The least ε at which the reader's δ is 10⁻⁵."""
    z = math.sqrt(_ROUNDS) / noise
    return _least(lambda epsilon: delta_of(epsilon, z), z)


def _upper_axis(figure: go.Figure, places: Sequence[float], words: Sequence[str]) -> None:
    """Write the ε of those who see every move above the three places on the axis."""
    figure.add_scatter(x=places, y=[1.0] * len(places), xaxis="x2", mode="none", hoverinfo="skip")
    figure.update_layout(
        margin_t=110,
        title={"y": 0.97, "yref": "container", "yanchor": "top"},
        xaxis2={
            "overlaying": "x",
            "side": "top",
            "type": "log",
            "range": list(figure.layout.xaxis.range),
            "tickvals": list(places),
            "ticktext": list(words),
            "title": _("ε for those who see every move, if each client adds s = σ/10"),
            "showgrid": False,
        },
    )
