"""A mean over seeds with its interval, one row per name."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.compare import Interval, t_interval
from fedlab_core.plots.style import BLACK, GREY, Look, looks, new_figure, set_description

_ROW_HEIGHT = 44


def intervals(
    values: Mapping[str, Sequence[float]],
    *,
    x_title: str = "test accuracy",
    level: float = 0.95,
    reference: float | None = None,
    percent: bool = True,
    title: str | None = None,
) -> go.Figure:
    """One row per name: a stroke per value, a large marker at their mean, a bar over its ``level`` t-interval.

    ``values``: name → one number per seed [n], n ≥ 2, or a pandas DataFrame with a column per name. ``reference``:
    where to draw a dotted vertical line, such as 0 for differences. ``percent``: numbers are shares, shown in per cent.

    Raises ``ValueError`` for an empty mapping and as :func:`fedlab_core.compare.t_interval` does.
    """
    numbers = {str(name): np.asarray(values[name], dtype=float) for name in values}
    if not numbers:
        raise ValueError("values: must hold at least one name, each with one number per seed")
    found = {name: t_interval(series, level) for name, series in numbers.items()}
    styles = looks({name: name for name in numbers})
    height = 120 + _ROW_HEIGHT * len(numbers)
    figure = new_figure(title=title, x_title=x_title, y_title="", height=height, legend=False)
    form = ".1%" if percent else ".4g"
    if reference is not None:
        figure.add_vline(x=reference, line={"color": GREY, "width": 2, "dash": "dot"})
    for name, series in numbers.items():
        _add_row(figure, name, series, found[name], styles[name], form)
    figure.update_xaxes(tickformat=".0%" if percent else None, tickangle=0, nticks=7)
    figure.update_yaxes(range=[len(numbers) - 0.5, -0.5], showline=False, ticks="", type="category")
    rows = [[name, *(format(v, form) for v in (one.mean, one.low, one.high)), one.runs] for name, one in found.items()]
    phrases = "; ".join(f"{name} {mean}, {low} to {high}" for name, mean, low, high, _ in rows)
    text = f"Dot chart of {x_title}: mean and {level:.0%} t-interval over {_runs(found)} seeds. {phrases}."
    set_description(figure, text, ["name", "mean", "low", "high", "runs"], rows)
    return figure


def _add_row(figure: go.Figure, name: str, values: np.ndarray, found: Interval, style: Look, form: str) -> None:
    figure.add_scatter(
        x=values,
        y=[name] * len(values),
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 17, "color": style.colour, "line": {"width": 2.5}},
        hovertemplate=f"%{{x:{form}}}<extra>one seed, {name}</extra>",
    )
    text = f"{found.mean:{form}}<br>{found.low:{form}} to {found.high:{form}}"
    figure.add_scatter(
        x=[found.mean],
        y=[name],
        name=name,
        mode="markers",
        error_x={"type": "data", "array": [found.half_width], "color": style.colour, "thickness": 2.5, "width": 7},
        marker={"symbol": style.marker, "size": 12, "color": style.colour, "line": {"color": BLACK, "width": 1}},
        hovertemplate=f"{text}<extra>{name}</extra>",
    )


def _runs(found: Mapping[str, Interval]) -> str:
    counts = sorted({one.runs for one in found.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
