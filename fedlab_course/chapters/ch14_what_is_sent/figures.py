"""What a move tells of labels: the last layer of one client, and the same under noise."""

from collections.abc import Sequence
from pathlib import Path
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


def label_moves(scores: Any, mix: Any, names: Sequence[str], *, title: str | None = None) -> go.Figure:
    """How far the bias of each label has moved, [C], with the labels that the client holds set apart.

    ``mix`` [C]: the shares of its samples, which the server does not see.
    """
    moved, shares = np.asarray(scores, dtype=float), np.asarray(mix, dtype=float)
    figure = new_figure(title=title, x_title="label", y_title="move of its bias", height=360)
    for name, chosen, colour, pattern in (("held", shares > 0, BLUE, ""), ("not held", shares == 0, GREY, "/")):
        figure.add_bar(
            x=[names[c] for c in np.flatnonzero(chosen).tolist()],
            y=moved[chosen],
            customdata=shares[chosen],
            name=name,
            marker={"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}},
            hovertemplate="label %{x}<br>move %{y:.3g}<br>%{customdata:.0%} of the samples",
        )
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=list(names))
    rows = [[names[c], f"{moved[c]:+.2g}", f"{shares[c]:.0%}"] for c in range(len(moved))]
    up = ", ".join(names[c] for c in np.flatnonzero(moved > 0).tolist()) or "none"
    held = ", ".join(names[c] for c in np.flatnonzero(shares > 0).tolist())
    text = f"Bars: how far the bias of each label moved. Upwards: {up}. The client holds: {held}."
    set_description(figure, text, ["label", "move", "share of its samples"], rows)
    return figure


def noise(split: str, *, rule: str = "row", folder: Path = tables.TABLES) -> go.Figure:
    """What the probe still tells, against the noise σ that each client adds: labels named, and clusters found.

    ``split``: "one label" or "two labels"; ``rule``: "bias" or "row", of chapter 14. Means over seeds; bars
    are one standard deviation. Raises ``ValueError`` for another split or rule, and if the table is not there.
    """
    table = tables.present(TABLE, folder)
    rows = tables.matching(table, TABLE, {"partition": split, "move": "probe", "rule": rule}).dropna(subset="noise")
    found = rows.groupby("noise")[[column for _, column, *_ in _CURVES]].agg(["mean", "std"])
    levels = found.index.to_numpy(dtype=float)
    left = levels[levels > 0].min() / 3
    figure = new_figure(
        title=None, x_title="noise σ, in units of the clipped move", y_title="share of clients, or index"
    )
    for name, column, look in _CURVES:
        bars = {"type": "data", "array": found[column, "std"], "color": look.colour, "thickness": 1.5}
        add_curve(figure, np.maximum(levels, left), found[column, "mean"], name, look, size=9, error_y=bars)
    shown = [level for level in levels if level > 0]
    figure.update_xaxes(type="log", tickvals=[left, *shown], ticktext=["0", *(f"{level:g}" for level in shown)])
    figure.update_yaxes(range=[-0.05, 1.08])
    lines = [
        [f"{level:g}", *(f"{found.loc[level, (column, 'mean')]:.2f}" for _, column, *_ in _CURVES)] for level in levels
    ]
    phrases = "; ".join(f"σ {level}: {exact} named, {main} main, index {index}" for level, exact, main, index in lines)
    text = f"Curves against noise, split {split}: shares of clients, and agreement of clusters. {phrases}."
    set_description(figure, text, ["σ", *(name for name, *_ in _CURVES)], lines)
    return figure
