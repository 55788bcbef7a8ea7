"""Curves on two logarithmic axes, where a power law is a line and its exponent the slope."""

import itertools
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, group_look, new_figure, set_description
from fedlab_course.explore.figures import add_curve

_FEW = 8  # values that are ticks themselves


def power_laws(
    curves: Mapping[str, tuple[Any, Any]],
    *,
    x_title: str,
    y_title: str,
    bounds: Collection[str] = (),
    title: str | None = None,
) -> go.Figure:
    """One line with markers per name through its (x, y), both positive; the slopes stand in the
    table.

    ``bounds``: names drawn in grey, dotted or dashed, without markers: what theory says, or a line
    to compare with. The slope is that of log y against log x, by least squares.
    """
    read = {name: np.asarray([*map(list, pair)], dtype=float) for name, pair in curves.items()}
    figure = new_figure(title=title, x_title=x_title, y_title=y_title)
    slots = itertools.count()
    dashes = itertools.cycle(("dot", "dash", "dashdot"))
    for name, (x, y) in read.items():
        if name in bounds:
            add_curve(figure, x, y, name, Look(GREY, next(dashes), ""), mode="lines")
        else:
            add_curve(
                figure, x, y, name, group_look(next(slots)), hovertemplate="%{x:.4g}: %{y:.4g}"
            )
    figure.update_xaxes(type="log", **_ticks([x for x, _ in read.values()]))
    figure.update_yaxes(type="log", exponentformat="power", **_ticks([y for _, y in read.values()]))
    slopes = {name: np.polyfit(np.log(x), np.log(y), 1)[0] for name, (x, y) in read.items()}
    rows = [
        [name, f"{y[0]:.3g}", f"{y[-1]:.3g}", f"{slopes[name]:+.2f}"]
        for name, (_, y) in read.items()
    ]
    phrases = "; ".join(
        f"{name} from {first} to {last}, slope {slope}" for name, first, last, slope in rows
    )
    text = f"{y_title} against {x_title}, both axes logarithmic. {phrases}."
    set_description(figure, text, ["name", "first", "last", "slope"], rows)
    return figure


def _ticks(rows: list[np.ndarray]) -> dict[str, Any]:
    """At each value where there are few; else at powers of ten, unless less than two lie
    between.
    """
    values = np.unique(np.concatenate(rows))
    if len(values) <= _FEW:
        return {"tickvals": values.tolist(), "ticktext": [f"{value:g}" for value in values]}
    return {"dtick": 1} if values[-1] >= 100 * values[0] else {}
