"""Figures of several chapters: intervals over seeds, resting
points, and the accuracy on each tier.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.compare import Interval, t_interval
from fedlab_core.plots.colours import GREY, GROUPS, INK, SEQUENCE
from fedlab_core.plots.style import Look, looks, new_figure, set_description

Points = tuple[Sequence[float], Sequence[float]]


def add_curve(
    figure: go.Figure,
    x: Any,
    y: Any,
    name: str,
    look: Look,
    *,
    mode: str = "lines+markers",
    size: Any = 8,
    width: float | None = 2,
    **more: Any,
) -> None:
    """Add a curve with a ``look``; ``width`` of the line and ``size`` of markers in pixels,
    ``more`` for Plotly.
    """
    line = {"color": look.colour, "dash": look.dash, "width": width}
    marker = (
        {"color": look.colour, "symbol": look.marker, "size": size} if "markers" in mode else None
    )
    figure.add_scatter(x=x, y=y, name=name, mode=mode, line=line, marker=marker, **more)


def prefixed(figure: go.Figure, words: str) -> go.Figure:
    """Put ``words`` before the description of ``figure``."""
    meta = figure.layout.meta
    return figure.update_layout(meta=meta | {"alt": f"{words} {meta['alt']}"})


def intervals(
    values: Mapping[str, Sequence[float]],
    *,
    x_title: str = "test accuracy",
    reference: float | None = None,
) -> go.Figure:
    """One row per name: a stroke per value, a large marker at their mean, a bar over its 95 %
    t-interval.

    ``values``: name → one share per seed [n], n ≥ 2. ``reference``: a dotted vertical line, such as
    0 for differences. Raises ``ValueError`` as :func:`fedlab_core.compare.t_interval`.
    """
    numbers = {str(name): values[name] for name in values}  # also the columns of a table
    styles = looks({name: name for name in numbers})
    figure = new_figure(
        title=None, x_title=x_title, y_title="", height=120 + 44 * len(numbers), legend=False
    )
    if reference is not None:
        figure.add_vline(x=reference, line={"color": GREY, "width": 2, "dash": "dot"})
    rows: list[list[Any]] = []
    for name, series in numbers.items():
        interval = t_interval(series)
        _add_seeds(figure, name, series, styles[name])
        _add_interval(figure, name, interval, styles[name])
        ends = (interval.mean, interval.low, interval.high)
        rows.append([name, *(f"{value:.1%}" for value in ends), interval.runs])
    figure.update_xaxes(tickformat=".0%", tickangle=0, nticks=7)
    figure.update_yaxes(range=[len(numbers) - 0.5, -0.5], showline=False, ticks="", type="category")
    phrases = "; ".join(f"{name} {mean}, {low} to {high}" for name, mean, low, high, _ in rows)
    runs = sorted({row[-1] for row in rows})
    seeds = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    text = f"Dot chart of {x_title}: mean and 95% t-interval over {seeds} seeds. {phrases}."
    set_description(figure, text, ["name", "mean", "low", "high", "runs"], rows)
    return figure


def _add_seeds(figure: go.Figure, name: str, series: Sequence[float], style: Look) -> None:
    """Add a stroke for each seed."""
    stroke = {
        "symbol": "line-ns-open",
        "size": 17,
        "color": style.colour,
        "line": {"width": 2.5},
    }
    hover = f"%{{x:.1%}}<extra>one seed, {name}</extra>"
    figure.add_scatter(
        x=series, y=[name] * len(series), mode="markers", marker=stroke, hovertemplate=hover
    )


def _add_interval(figure: go.Figure, name: str, interval: Interval, style: Look) -> None:
    """Add the mean over seeds, with a bar over its interval."""
    mean, low, high = (f"{value:.1%}" for value in (interval.mean, interval.low, interval.high))
    figure.add_scatter(
        x=[interval.mean],
        y=[name],
        name=name,
        mode="markers",
        error_x={
            "type": "data",
            "array": [interval.half_width],
            "color": style.colour,
            "thickness": 2.5,
            "width": 7,
        },
        marker={
            "symbol": style.marker,
            "size": 12,
            "color": style.colour,
            "line": {"color": INK, "width": 1},
        },
        hovertemplate=f"{mean}<br>{low} to {high}<extra>{name}</extra>",
    )


def resting_points(
    lines: Mapping[str, Points],
    *,
    optimum: float,
    x_title: str,
    points: Mapping[str, Points] | None = None,
    log_x: bool = False,
    y_title: str = "resting point",
) -> go.Figure:
    """Curves name → (x, resting points), with the ``optimum`` as a dotted line.

    ``points``: name → (x, y) of runs, drawn as markers. ``log_x``: a logarithmic axis.
    """
    styles = looks({name: name for name in lines})
    marked = points or {}
    figure = new_figure(title=None, x_title=x_title, y_title=y_title)
    for name, (x, y) in lines.items():
        add_curve(figure, x, y, name, styles[name], mode="lines", width=3)
    for name, (x, y) in marked.items():
        diamond = {"size": 10, "color": INK, "symbol": "diamond"}
        figure.add_scatter(x=x, y=y, name=name, mode="markers", marker=diamond)
    ends = [min(min(x) for x, _ in lines.values()), max(max(x) for x, _ in lines.values())]
    rule = {"color": GREY, "dash": "dot", "width": 3}
    figure.add_scatter(x=ends, y=[optimum, optimum], name="optimum", mode="lines", line=rule)
    if log_x:
        figure.update_xaxes(type="log", dtick=1)
    phrases = "; ".join(
        f"{name}: from {y[0]:.4f} at {x[0]:g} to {y[-1]:.4f} at {x[-1]:g}, highest {max(y):.4f}"
        for name, (x, y) in lines.items()
    )
    text = (
        f"Curves of the resting point against {x_title}; the optimum is {optimum:.4g}. {phrases}."
    )
    rows = []
    for name, curve in {**lines, **marked}.items():
        pairs = list(zip(*curve, strict=True))
        # about twelve, the first and the last among them
        some = [*pairs[: -1 : max(1, len(pairs) // 11)], pairs[-1]]
        rows += [[name, f"{x:g}", f"{y:.4f}"] for x, y in some]
    set_description(figure, text, ["curve", x_title, "resting point"], rows)
    return figure


def forgetting(accuracies: Any, *, names: Sequence[str], title: str | None = None) -> go.Figure:
    """Heat map of the accuracy on each tier's data after each server update; a ring marks the tier
    just trained.

    ``accuracies`` [V, T] in [0, 1]: V server updates, which train the tiers 0, 1, …, T − 1, 0, … in
    turn. ``names`` [T] of the tiers. Raises ``ValueError`` for names that are not different.
    """
    table = np.asarray(accuracies, dtype=float)
    updates, tiers = table.shape
    trained = np.arange(updates) % tiers
    labels = [str(name) for name in names]
    if len(set(labels)) != tiers:
        raise ValueError(f"names={labels}: must be {tiers} different names, one per tier")
    figure = new_figure(
        title=title, x_title="server updates", y_title="tier", height=150 + 26 * tiers, legend=False
    )
    _add_accuracies(figure, table, labels, [labels[tier] for tier in trained])
    rows = []
    after_all_turns = []
    before_all_turns = []
    for tier, name in enumerate(labels):
        turns = np.flatnonzero(trained == tier)
        after = table[turns, tier]
        before = table[turns[1:] - 1, tier]
        after_all_turns.extend(after)
        before_all_turns.extend(before)
        rows.append([name, len(turns), _share(after), _share(before), f"{table[-1, tier]:.0%}"])
    text = (
        f"Heat map of the accuracy on the data of {tiers} tiers after each of {updates} server "
        f"updates. Mean accuracy on a tier right after its turn {_share(after_all_turns)}, right "
        f"before its next turn {_share(before_all_turns)}; over all tiers at the end "
        f"{table[-1].mean():.0%}."
    )
    columns = ["tier", "turns", "after its turns", "before its next turns", "at the end"]
    set_description(figure, text, columns, rows)
    return figure


def _add_accuracies(
    figure: go.Figure, table: np.ndarray, labels: list[str], trained: list[str]
) -> None:
    """Add the heat map of the accuracies [V, T], and the rings of the tiers ``trained`` [V]."""
    updates = np.arange(1, len(table) + 1)
    figure.add_heatmap(
        z=table.T,
        x=updates,
        y=labels,
        zmin=0,
        zmax=1,
        colorscale=list(SEQUENCE),
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": "accuracy", "side": "right"},
            "thickness": 12,
            "tickformat": ".0%",
        },
        hovertemplate="after update %{x}<br>tier %{y}<br>accuracy %{z:.0%}<extra></extra>",
    )
    figure.add_scatter(
        x=updates,
        y=trained,
        mode="markers",
        marker={"symbol": "circle-open", "color": GROUPS[2], "size": 8, "line": {"width": 2}},
        hovertemplate="update %{x} trained tier %{y}<extra></extra>",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(range=[0.5, len(table) + 0.5], showgrid=False)


def _share(values: Any) -> str:
    return f"{np.mean(values):.0%}" if len(values) else "–"
