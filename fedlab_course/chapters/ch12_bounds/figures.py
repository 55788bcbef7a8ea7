"""Curves on two logarithmic axes, where a power law is a line and its exponent the slope."""

import itertools
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import GREY, look, new_figure, set_description
from fedlab_course.explore.figures import add_curve

_FEW = 8  # values that are ticks themselves

Curve = tuple[Any, Any]  # x and y, two rows of numbers


def power_laws(
    curves: Mapping[str, Curve],
    *,
    x_title: str,
    y_title: str,
    bounds: Collection[str] = (),
    points: bool = False,
    title: str | None = None,
) -> go.Figure:
    """One line with markers per name through its (x, y), both positive; the slopes stand in the table.

    ``bounds``: names drawn in grey, dotted or dashed, without markers: what theory says, or a line to compare with.
    ``points``: markers alone, for values in no order. The slope is that of log y against log x, by least squares.
    Raises ``ValueError`` for an empty mapping, fewer than two pairs, and values that are not positive and finite.
    """
    if not curves:
        raise ValueError("curves: must hold at least one curve")
    read = {str(name): _read(str(name), pair) for name, pair in curves.items()}
    figure = new_figure(title=title, x_title=x_title, y_title=y_title)
    slot, dashes = 0, itertools.cycle(("dot", "dash", "dashdot"))
    for name, (x, y) in read.items():
        if name in bounds:
            line = {"color": GREY, "dash": next(dashes), "width": 2}
            figure.add_scatter(x=x, y=y, name=name, mode="lines", line=line)
            continue
        mode = "markers" if points else "lines+markers"
        add_curve(figure, x, y, name, look(slot), mode=mode, hovertemplate="%{x:.4g}: %{y:.4g}")
        slot += 1
    figure.update_xaxes(type="log", **_ticks([x for x, _ in read.values()]))
    figure.update_yaxes(type="log", exponentformat="power", **_ticks([y for _, y in read.values()]))
    rows = [[name, f"{y[0]:.3g}", f"{y[-1]:.3g}", f"{_slope(x, y):+.2f}"] for name, (x, y) in read.items()]
    phrases = "; ".join(f"{name} from {first} to {last}, slope {slope}" for name, first, last, slope in rows)
    text = f"{y_title} against {x_title}, both axes logarithmic. {phrases}."
    set_description(figure, text, ["name", "first", "last", "slope"], rows)
    return figure


def _read(name: str, pair: Curve) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.asarray(values, dtype=float) for values in pair)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise ValueError(f"curves: {name} must be two rows of the same length, two or more, got {x.shape}, {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (x > 0).all() and (y > 0).all()):
        raise ValueError(f"curves: {name} must hold positive numbers, for the axes are logarithmic")
    return x, y


def _ticks(rows: list[np.ndarray]) -> dict[str, Any]:
    """At each value where there are few; else at powers of ten, unless less than two lie between."""
    values = np.unique(np.concatenate(rows))
    if len(values) <= _FEW:
        return {"tickvals": values.tolist(), "ticktext": [f"{value:g}" for value in values]}
    return {"dtick": 1} if values[-1] >= 100 * values[0] else {}


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
