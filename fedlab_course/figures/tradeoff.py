"""What a model keeps of a first task against what it learns of a second."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import look, new_figure, set_description


def tradeoff(points: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """One curve per penalty, one point per λ: accuracy on the first task against that on the second.

    ``points``: name → [L, 3], rows (λ, accuracy on the first task, accuracy on the second) with λ increasing. The upper
    right corner is where nothing is forgotten and everything learned.

    Raises ``ValueError`` for an empty mapping, other shapes, and accuracies outside 0 … 1.
    """
    if not points:
        raise ValueError("points: must hold at least one curve")
    tables = {str(name): _table(values) for name, values in points.items()}
    figure = new_figure(title=title, x_title="accuracy on the second task", y_title="accuracy on the first task")
    for slot, (name, table) in enumerate(tables.items()):
        style = look(slot)
        figure.add_scatter(
            x=table[:, 2],
            y=table[:, 1],
            name=name,
            mode="lines+markers+text",
            text=_labels(table),
            textposition="bottom left",
            textfont={"color": style.colour, "size": 12},
            line={"color": style.colour, "dash": style.dash, "width": 2},
            marker={"color": style.colour, "symbol": style.marker, "size": 9},
            customdata=table[:, 0],
            hovertemplate="λ=%{customdata:g}<br>first %{y:.1%}<br>second %{x:.1%}",
        )
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    rows = [
        [name, f"{strength:g}", f"{first:.1%}", f"{second:.1%}"]
        for name, table in tables.items()
        for strength, first, second in table
    ]
    best = {name: table[np.argmax(table[:, 1] + table[:, 2])] for name, table in tables.items()}
    phrases = [f"{name} {one[1]:.0%} and {one[2]:.0%} at λ={one[0]:g}" for name, one in best.items()]
    text = f"Accuracy on the first task against the second, a point per λ. Most of both: {'; '.join(phrases)}."
    set_description(figure, text, ["penalty", "λ", "first task", "second task"], rows)
    return figure


def _labels(table: np.ndarray) -> list[str]:
    """λ at both ends of a curve and where it has most of both tasks: more would lie on top of each other."""
    shown = {0, len(table) - 1, int(np.argmax(table[:, 1] + table[:, 2]))}
    return [f"{strength:g}" if row in shown else "" for row, strength in enumerate(table[:, 0])]


def _table(values: Any) -> np.ndarray:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] != 3 or not len(table):
        raise ValueError(f"points: must be tables with rows (λ, first, second), got shape {list(table.shape)}")
    if not ((table[:, 1:] >= 0) & (table[:, 1:] <= 1)).all():
        raise ValueError("points: must be accuracies from 0 to 1")
    return table
