"""The common style: colours, dashes, markers, template and text alternative."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import COMPETITORS, GRID, GROUPS, INK, METHODS, RELATIVES, rgba

S = TypeVar("S")
_HUES = tuple(METHODS.values())
_DASHES = (
    "solid",
    "9px,3px",
    "5px,2px,1px,2px",
    "14px,4px",
    "10px,3px,2px,3px",
    "4px,2px",
    "12px,3px,2px,3px,2px,3px",
)
# Buttons that upload the figure to a company's server, or confuse.
_UNWANTED = ["sendChartToCloud", "zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale"]
_MARKERS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "x",
    "star",
    "cross",
    "triangle-down",
    "pentagon",
    "hexagon",
)
_AXIS = {
    "showline": True,
    "linecolor": INK,
    "linewidth": 1,
    "ticks": "outside",
    "gridcolor": GRID,
    "zeroline": False,
    "automargin": True,
}
_LEGEND_BELOW = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": 0,
    "yref": "container",
    "yanchor": "bottom",
}
_LAYOUT = {  # common to all figures
    "font": {
        "family": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif",
        "size": 14,
        "color": INK,
    },
    "paper_bgcolor": "white",
    "plot_bgcolor": "white",
    "colorway": GROUPS,
    "xaxis": _AXIS,
    "yaxis": _AXIS,
    "hoverlabel": {"font": {"size": 13}, "align": "left", "namelength": -1},
    "legend": _LEGEND_BELOW,
    "margin": {"l": 60, "r": 20, "t": 36, "b": 50},
    "modebar": {"remove": _UNWANTED},
}
_TEMPLATE = go.layout.Template(layout=_LAYOUT)
_TITLE = {
    "font": {"size": 16},
    "pad": {"b": 12},
    "x": 0.01,
    "xref": "container",
    "xanchor": "left",
    "y": 1,
    "yref": "paper",
    "yanchor": "bottom",
}
MARKERS_PER_CURVE = 9
MARKER_SIZE = 8  # pixels


def _slots() -> dict[str, int]:
    """Algorithm → its slot, the same in every figure. A relative has the hue of an algorithm and
    one repeat more of dashes and markers than the relatives before it.
    """
    slots = {name: slot for slot, name in enumerate(METHODS)}
    for name, relative in RELATIVES.items():
        slot = slots[relative] + len(METHODS)
        while slot in slots.values():
            slot += len(METHODS)
        slots[name] = slot
    return slots


_SLOTS = _slots()


@dataclass(frozen=True)
class Look:
    """The style of one algorithm.

    The first 49 looks all differ in (colour, dash) and in (colour, marker).
    """

    colour: str
    dash: str
    marker: str

    def faded(self, opacity: float) -> str:
        """The colour with an opacity, in CSS."""
        return rgba(self.colour, opacity)


def look(slot: int) -> Look:
    """The look with number ``slot``; 0 … 6 are the algorithms of the course."""
    return _repeated(_HUES, slot)


def group_look(number: int) -> Look:
    """The look of a client, a cluster or another series that is no method. The first 70 differ."""
    return _repeated(GROUPS, number)


def _repeated(colours: Sequence[str], number: int) -> Look:
    """Each colour in turn, and at each repeat with the next dash and marker."""
    repeat, colour = divmod(number, len(colours))
    shape = colour + repeat
    return Look(colours[colour], _DASHES[shape % len(_DASHES)], _MARKERS[shape % len(_MARKERS)])


def looks(algorithms: Mapping[S, str], given: Mapping[S, Look] | None = None) -> dict[S, Look]:
    """A look for each series, from its name to the name of its algorithm.

    Series keep a look that they were ``given`` before. The first series of a known algorithm gets
    that algorithm's look, and a competitor of the course its own; further series of it, and unknown
    algorithms, get the looks of groups that are left, in order: a method's colour is nobody else's.
    """
    chosen = {series: look for series, look in (given or {}).items() if series in algorithms}
    for series, algorithm in algorithms.items():
        name = str(series).partition("(")[0]  # without arguments, as of Mine(beta=0.5)
        wanted = _own_look(name if name in COMPETITORS else algorithm)
        if series not in chosen and wanted and wanted not in chosen.values():
            chosen[series] = wanted
    taken = list(chosen.values())
    every = map(group_look, range(len(algorithms) + len(taken)))
    free = (one for one in every if one not in taken)
    return {series: chosen[series] if series in chosen else next(free) for series in algorithms}


def _own_look(algorithm: str) -> Look | None:
    """The look that an algorithm or a competitor of the course has in every figure, or None."""
    if algorithm in COMPETITORS:
        return group_look(COMPETITORS[algorithm])
    slot = known_slot(algorithm)
    return None if slot is None else look(slot)


def spaced_markers(points: int, planned: int, style: Look) -> dict[str, object]:
    """Plotly's ``marker`` for a curve of ``points`` so far, with a marker at a few of them.

    The places depend on the ``planned`` length of the curve and on its ``style`` alone. Plotly's
    own ``maxdisplayed`` moves the markers when a curve grows, and when another curve appears.
    Curves of different styles have their markers at different places, so one does not hide another.
    """
    step = max(1, math.ceil(planned / MARKERS_PER_CURVE))
    first = _MARKERS.index(style.marker) % 3 * step // 3
    marked = [point == 0 or point % step == first for point in range(points)]
    # A legend has the mean of the sizes, so the mean is the size of a
    # marker; "sizeref" divides the sizes in the chart.
    scale = points / max(1, sum(marked))
    size = [MARKER_SIZE * scale * is_marked for is_marked in marked]
    # Plotly makes markers of several sizes transparent, and draws an
    # edge around them, unless they say otherwise.
    plain = {"opacity": 1, "line": {"width": 0}}
    return {"color": style.colour, "symbol": style.marker, "size": size, "sizeref": scale, **plain}


def known_slot(name: str) -> int | None:
    """The slot of the algorithm that ``name`` begins with, such as "FedProx μ=0.1"; or None."""
    first_word = re.match(r"[a-z]*", name.strip().lower())
    return _SLOTS.get(first_word.group()) if first_word else None


def new_figure(
    *, title: str | None, x_title: str, y_title: str, height: int = 440, legend: bool = True
) -> go.Figure:
    """An empty figure in the common style. A title of up to 45 characters fits a telephone."""
    layout: dict[str, Any] = {
        "template": _TEMPLATE,
        "height": height,
        "showlegend": legend,
        "xaxis": {"title": {"text": x_title}},
        "yaxis": {"title": {"text": y_title}},
    }
    if title:
        layout |= {"title": {"text": title, **_TITLE}, "margin": {"t": 60}}
    return go.Figure(layout=layout)  # at once: Plotly takes five times as long for each by itself


def add_band(
    figure: go.Figure,
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    look: Look,
    *,
    group: str,
    name: str | None = None,
) -> None:
    """Draw a pale band from ``low`` to ``high`` along ``x``, all [n], hidden together with the
    curve ``group``.
    """
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",  # Plotly marks the points of a short line by default
        fill="toself",
        fillcolor=look.faded(0.15),
        line={"width": 0},
        hoverinfo="skip",
        legendgroup=group,
        name=name,
        showlegend=False,
    )


def set_description(
    figure: go.Figure, text: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Store the text alternative as ``layout.meta["alt"]`` and the numbers as ``meta["table"]``."""
    table = {"columns": list(columns), "rows": [list(row) for row in rows]}
    figure.update_layout(meta={"alt": text, "table": table})


def describe(figure: go.Figure) -> str:
    """The figure in words, with its main numbers.

    Raises ``ValueError`` for a figure without a description.
    """
    meta = figure.layout.meta
    if not isinstance(meta, dict) or not meta.get("alt"):
        raise ValueError(
            'figure: has no description in layout.meta["alt"]; must be a figure of '
            "fedlab_core.plots"
        )
    return meta["alt"]
