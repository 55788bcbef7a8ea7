"""What differential privacy of a run costs: ε from the noise, and accuracy over stored seeds."""

import math

import plotly.graph_objects as go
from scipy.optimize import brentq
from scipy.stats import norm

from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import tables

TABLE = "private_runs"
DELTA = 1e-5
_ROUNDS = 30
_CLIENTS = 100
_NOISES = (1.0, 5.0, 20.0)  # of the sum


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
    z = math.sqrt(rounds) / noise
    if delta(0.0, noise, rounds) < DELTA:
        return 0.0
    most = z**2 / 2 + 10 * z  # there δ is below Φ(−10)
    return float(brentq(lambda e: delta(e, noise, rounds) - DELTA, 0.0, most))


def cost() -> go.Figure:
    """Accuracy at the end against ε: a small dot for each of 20 stored seeds, a large one at their
    mean.
    """
    rows = tables.read(TABLE).set_index("algorithm").end_accuracy
    figure = new_figure(
        title="Noise σ once on the sum, 20 seeds",
        x_title="ε for δ = 10⁻⁵",
        y_title="test accuracy at the end",
        legend=False,
    )
    clipped = rows["sigma=0"].mean()
    figure.add_hline(y=clipped, line={"color": GREY, "dash": "dot", "width": 2})
    note = {"text": "clipped, no noise: ε = ∞", "showarrow": False, "font": {"color": GREY}}
    figure.add_annotation(x=0, xref="paper", xanchor="left", y=clipped, yshift=14, **note)
    lines = []
    for noise in _NOISES:
        ends = rows[f"sigma={noise:g}"]
        spent = epsilon(noise)
        name = f"σ = {noise:g}"
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
        alone = f"{epsilon(noise / math.sqrt(_CLIENTS)):,.0f}"
        values = [f"{ends.mean():.1%}", f"{ends.min():.1%}", f"{ends.max():.1%}"]
        lines.append([name, f"{spent:.1f}", alone, *values])
    lines.append(["no noise", "∞", "∞", f"{clipped:.1%}", "", ""])
    figure.update_xaxes(type="log", range=[-0.3, 2.3], tickvals=[1, 3, 10, 30, 100])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    told = "; ".join(f"{line[0]}: ε {line[1]}, accuracy {line[3]}" for line in lines)
    heads = ["noise of the sum", "ε, models seen", "ε, moves seen", "mean", "least", "most"]
    text = f"Accuracy after 30 rounds of 100 clients against ε. {told}."
    set_description(figure, text, heads, lines)
    return figure
