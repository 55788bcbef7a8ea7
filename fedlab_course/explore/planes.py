"""Planes side by side: what two clients do in a round, and the path of w over the rounds.

The clients are those of all chapters: losses ½ Σ_d a_kd (y_d − b_kd)², minima at a square and at a
triangle.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import CONTOURS, GREY, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.explore.quadratics import CLIENTS, COLOURS, SYMBOLS

_ = translator(__name__)

_RANGES = ((-2.4, 1.8), (-1.3, 2.4))  # of the picture


class Plane(NamedTuple):
    """One of the planes: its ``title`` and the ``colour`` of its method.

    ``steps`` [τ + 1, 2 clients, 2]: the local steps of the last round; ``way`` [rounds + 1, 2]: w
    before the first round and after each.
    """

    title: str
    steps: np.ndarray
    way: np.ndarray
    colour: str


def distance(w: np.ndarray) -> float:
    """The distance of w from the optimum."""
    return float(np.linalg.norm(w - CLIENTS.optimum))


def side_by_side(planes: Sequence[Plane], *, title: str) -> go.Figure:
    """Draw the planes in a row, with the local steps of a round and the path of w up to it."""
    figure = new_figure(title=title, x_title="", y_title="", height=480, legend=False)
    names = [f"<b>{plane.title}</b>" for plane in planes]
    figure.set_subplots(1, len(planes), horizontal_spacing=0.09, subplot_titles=names)
    figure.update_annotations(font_size=13)
    for number, plane in enumerate(planes, start=1):
        _add_ground(figure, number)
        _add_clients(figure, number, plane.steps)
        _add_way(figure, number, plane)
    figure.update_xaxes(title_text="w<sub>1</sub>", range=_RANGES[0], zeroline=False)
    figure.update_yaxes(range=_RANGES[1], zeroline=False)
    figure.update_yaxes(title_text="w<sub>2</sub>", col=1)
    figure.update_layout(margin_t=84, title_pad_b=34)
    rows = [_row(plane) for plane in planes]
    phrase = _("{name}: w is at {place}, {distance} from the optimum")
    phrases = [phrase.format(name=name, place=at, distance=far) for name, at, far in rows]
    text = _(
        "{title}. Planes with contours of F, its optimum, the minima of two clients, their local "
        "steps of this round and the path of w. {phrases}."
    ).format(title=title, phrases=_("; ").join(phrases))
    set_description(figure, text, [_("plane"), "w", _("from the optimum")], rows)
    return figure


def _row(plane: Plane) -> list[str]:
    last = plane.way[-1]
    return [plane.title, f"({last[0]:.3g}, {last[1]:.3g})", f"{distance(last):.3g}"]


def _add_ground(figure: go.Figure, number: int) -> None:
    """Add the contours of F, the minima of both clients and the optimum, with their names."""
    x, y = (np.linspace(*ends, 41) for ends in _RANGES)
    figure.add_contour(
        x=x,
        y=y,
        z=CLIENTS.loss(np.stack(np.meshgrid(x, y), axis=-1)).mean(0),
        ncontours=18,
        contours={"coloring": "lines"},
        colorscale=list(CONTOURS),
        showscale=False,
        hoverinfo="skip",
        row=1,
        col=number,
    )
    for k, (at, colour, symbol) in enumerate(zip(CLIENTS.b, COLOURS, SYMBOLS, strict=True)):
        _add_mark(figure, number, at, f"b<sub>{k + 1}</sub>", f"{symbol}-open", colour)
    _add_mark(figure, number, CLIENTS.optimum, _("optimum"), "star", INK)


def _add_mark(
    figure: go.Figure, number: int, at: np.ndarray, name: str, symbol: str, colour: str
) -> None:
    figure.add_scatter(
        x=[at[0]],
        y=[at[1]],
        name=name,
        text=[name],
        textposition="bottom center",
        textfont={"color": colour},
        mode="markers+text",
        marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 2}},
        hoverinfo="name",
        row=1,
        col=number,
    )


def _add_clients(figure: go.Figure, number: int, steps: np.ndarray) -> None:
    """Add the local steps of both clients [τ + 1, 2, 2] as dots on a line."""
    for k, (colour, symbol) in enumerate(zip(COLOURS, SYMBOLS, strict=True)):
        figure.add_scatter(
            x=steps[:, k, 0],
            y=steps[:, k, 1],
            name=_("local steps of client {number}").format(number=k + 1),
            mode="lines+markers",
            line={"color": colour, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 6},
            hoverinfo="name",
            row=1,
            col=number,
        )


def _add_way(figure: go.Figure, number: int, plane: Plane) -> None:
    """Add the path of w over the rounds, and a cross where it is now; or say that it runs away."""
    place: dict[str, Any] = {"row": 1, "col": number}
    line = {"color": plane.colour, "width": 3}
    way = plane.way
    figure.add_scatter(
        x=way[:, 0], y=way[:, 1], name=_("path of w"), mode="lines", line=line, **place
    )
    _add_mark(figure, number, way[0], _("start"), "circle", GREY)
    (left, right), (low, high) = _RANGES
    if left < way[-1, 0] < right and low < way[-1, 1] < high:
        _add_mark(figure, number, way[-1], "w", "x", plane.colour)
        return
    words = {"text": _("w runs away"), "font": {"color": plane.colour}, "showarrow": False}
    figure.add_annotation(x=right, y=high, xanchor="right", yanchor="top", **words, **place)
