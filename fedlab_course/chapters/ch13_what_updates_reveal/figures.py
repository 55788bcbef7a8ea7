"""What a move tells of labels: the last layer of one client, and the same under noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLUE, GREEN, GREY, VERMILLION, Look, new_figure, set_description
from fedlab_course.evidence import tables
from fedlab_course.explore.figures import add_curve

TABLE = "c14_labels"
_CURVES = (
    ("labels named without a fault", "exact", Look(VERMILLION, "solid", "circle")),
    ("a main label moves most", "main", Look(BLUE, "9px,3px", "square")),
    ("clusters: adjusted Rand index", "adjusted_rand", Look(GREEN, "5px,2px,1px,2px", "triangle-up")),
)


def label_moves(scores: Any, mix: Any, names: Sequence[str]) -> go.Figure:
    """How far the bias of each label has moved, [C], with the labels that the client holds set apart.

    ``mix`` [C]: the shares of its samples, which the server does not see.
    """
    moved, shares, labels = np.asarray(scores, dtype=float), np.asarray(mix, dtype=float), np.array(names)
    figure = new_figure(title=None, x_title="label", y_title="move of its bias", height=360)
    for name, chosen, colour, pattern in (("held", shares > 0, BLUE, ""), ("not held", shares == 0, GREY, "/")):
        figure.add_bar(
            x=labels[chosen].tolist(),
            y=moved[chosen],
            customdata=shares[chosen],
            name=name,
            marker={"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}},
            hovertemplate="label %{x}<br>move %{y:.3g}<br>%{customdata:.0%} of the samples",
        )
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=list(names))
    rows = [[name, f"{move:+.2g}", f"{share:.0%}"] for name, move, share in zip(names, moved, shares, strict=True)]
    up, held = ", ".join(labels[moved > 0]) or "none", ", ".join(labels[shares > 0])
    text = f"Bars: how far the bias of each label moved. Upwards: {up}. The client holds: {held}."
    set_description(figure, text, ["label", "move", "share of its samples"], rows)
    return figure


def noise(split: str) -> go.Figure:
    """What the probe still tells, against the noise σ that each client adds: labels named, and clusters found.

    ``split``: "one label" or "two labels". Means over seeds; bars are one standard deviation.
    """
    wanted = {"partition": split, "move": "probe", "rule": "row"}
    rows = tables.matching(TABLE, wanted).dropna(subset="noise")
    found = rows.groupby("noise")[[column for _, column, _ in _CURVES]]
    means, spreads = found.mean(), found.std()
    levels = means.index.to_numpy(dtype=float)
    shown = levels[levels > 0].tolist()
    left = min(shown) / 3  # where σ = 0 stands on a logarithmic axis
    x_title = "noise σ, in units of the clipped move"
    figure = new_figure(title=None, x_title=x_title, y_title="share of clients, or index")
    for name, column, look in _CURVES:
        bars = {"type": "data", "array": spreads[column], "color": look.colour, "thickness": 1.5}
        add_curve(figure, np.maximum(levels, left), means[column], name, look, size=9, error_y=bars)
    figure.update_xaxes(type="log", tickvals=[left, *shown], ticktext=["0", *(f"{level:g}" for level in shown)])
    figure.update_yaxes(range=[-0.05, 1.08])
    lines = [[f"{level:g}", *(f"{one:.2f}" for one in row)] for level, *row in means.itertuples()]
    phrases = "; ".join(f"σ {level}: {exact} named, {main} main, index {index}" for level, exact, main, index in lines)
    text = f"Curves against noise, split {split}: shares of clients, and agreement of clusters. {phrases}."
    set_description(figure, text, ["σ", *(name for name, *_ in _CURVES)], lines)
    return figure
