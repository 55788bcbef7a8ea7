"""What a model that learns one tier after another still knows of the others."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import VERMILLION, add_band, look, new_figure, set_description

COLOURSCALE = ((0.0, "#F3F7FB"), (0.5, "#4A90C2"), (1.0, "#08306B"))


def forgetting(
    accuracies: Any,
    *,
    visits: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Heat map: the accuracy on each tier's data after each server update; a ring marks the tier just trained.

    ``accuracies`` [V, T] in [0, 1]: V server updates, T tiers. ``visits`` [V]: the tier that was trained in each
    update, 0, 1, …, T − 1, 0, … if None. ``names`` [T] of the tiers, their numbers if None.

    Raises ``ValueError`` for other shapes or values.
    """
    table = _table(accuracies)
    updates, tiers = table.shape
    trained = np.arange(updates) % tiers if visits is None else np.asarray(visits, dtype=int)
    labels = [str(tier) for tier in range(tiers)] if names is None else [str(name) for name in names]
    if trained.shape != (updates,) or trained.min() < 0 or trained.max() >= tiers:
        raise ValueError(f"visits: must name a tier, 0 … {tiers - 1}, for each of {updates} server updates")
    if len(set(labels)) != tiers:
        raise ValueError(f"names: must be {tiers} different names, one per tier, got {labels}")
    along = np.arange(1, updates + 1)
    figure = new_figure(title=title, x_title="server updates", y_title="tier", height=150 + 26 * tiers, legend=False)
    figure.add_heatmap(
        z=table.T,
        x=along,
        y=labels,
        zmin=0,
        zmax=1,
        colorscale=COLOURSCALE,
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": "accuracy", "side": "right"}, "thickness": 12, "tickformat": ".0%"},
        hovertemplate="after update %{x}<br>tier %{y}<br>accuracy %{z:.0%}<extra></extra>",
    )
    figure.add_scatter(
        x=along,
        y=[labels[tier] for tier in trained],
        mode="markers",
        marker={"symbol": "circle-open", "color": VERMILLION, "size": 8, "line": {"width": 2}},
        hovertemplate="update %{x} trained tier %{y}<extra></extra>",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(range=[0.5, updates + 0.5], showgrid=False)
    _describe_forgetting(figure, table, trained, labels)
    return figure


def memory(curves: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """Accuracy on a tier's data against the server updates since the tier was trained, one curve per name.

    ``curves``: name → [S, L], for S seeds the accuracy 0, 1, …, L − 1 updates after a tier's own; drawn as their mean
    with a band from minimum to maximum. Raises ``ValueError`` for an empty mapping, other shapes or values.
    """
    if not curves:
        raise ValueError("curves: must hold at least one curve")
    tables = {str(name): _table(values, "curves") for name, values in curves.items()}
    figure = new_figure(title=title, x_title="updates since its turn", y_title="accuracy on a tier's data")
    for slot, (name, table) in enumerate(tables.items()):
        style, along = look(slot), np.arange(table.shape[1])
        if len(table) > 1:
            add_band(figure, along, table.min(0), table.max(0), style, group=name)
        figure.add_scatter(
            x=along,
            y=table.mean(0),
            name=name,
            legendgroup=name,
            mode="lines+markers",
            line={"color": style.colour, "dash": style.dash, "width": 2},
            marker={"color": style.colour, "symbol": style.marker, "size": 8},
            hovertemplate="%{x} updates later: %{y:.1%}",
        )
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    _describe_memory(figure, tables)
    return figure


def _table(values: Any, name: str = "accuracies") -> np.ndarray:
    """As float [rows, columns] of shares."""
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"{name}: must be a table with at least one row and column, got shape {list(table.shape)}")
    if not ((table >= 0) & (table <= 1)).all():
        raise ValueError(f"{name}: must be accuracies from 0 to 1")
    return table


def _describe_forgetting(figure: go.Figure, table: np.ndarray, trained: np.ndarray, labels: Sequence[str]) -> None:
    """How well a tier is known right after its turn, right before its next one, and at the end."""
    rows, just, before = [], [], []
    for tier, name in enumerate(labels):
        turns = np.flatnonzero(trained == tier)
        after, late = table[turns, tier], table[turns[1:] - 1, tier]
        just.extend(after)
        before.extend(late)
        rows.append([name, len(turns), _share(after), _share(late), f"{table[-1, tier]:.0%}"])
    text = (
        f"Heat map of the accuracy on the data of {len(labels)} tiers after each of {len(table)} server updates. Mean "
        f"accuracy on a tier right after its turn {_share(just)}, right before its next turn {_share(before)}; over "
        f"all tiers at the end {table[-1].mean():.0%}."
    )
    columns = ["tier", "turns", "after its turns", "before its next turns", "at the end"]
    set_description(figure, text, columns, rows)


def _describe_memory(figure: go.Figure, tables: Mapping[str, np.ndarray]) -> None:
    rows = [
        [name, len(table), table.shape[1] - 1, f"{table[:, 0].mean():.1%}", f"{table[:, -1].mean():.1%}"]
        for name, table in tables.items()
    ]
    phrases = [f"{name} from {first} to {last} after {lag} updates" for name, _, lag, first, last in rows]
    text = (
        "Line chart of the accuracy on a tier's data against the server updates since the tier was trained: "
        f"{'; '.join(phrases)}."
    )
    set_description(figure, text, ["name", "seeds", "updates", "just trained", "at the end"], rows)


def _share(values: Any) -> str:
    return f"{np.mean(values):.0%}" if len(values) else "–"
