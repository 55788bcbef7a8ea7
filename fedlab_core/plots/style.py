"""The common style: colours, dashes, markers, template and text alternative."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import plotly.graph_objects as go

S = TypeVar("S")
# Okabe and Ito, "Color Universal Design" (2008), with a brown and a violet in place of yellow, orange and sky blue,
# whose contrast on white is below 3:1. All differ for colour-blind readers too.
BLACK, BLUE, VERMILLION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PURPLE, BROWN, VIOLET, GREY = "#CC79A7", "#7C623C", "#7B4FE0", "#595959"

_COLOURS = (BLACK, BLUE, VERMILLION, GREEN, PURPLE, BROWN, VIOLET)
_DASHES = ("solid", "9px,3px", "5px,2px,1px,2px", "14px,4px", "10px,3px,2px,3px", "4px,2px", "12px,3px,2px,3px,2px,3px")
# Buttons that upload the figure to a company's server, or confuse.
_UNWANTED = ["sendChartToCloud", "zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale"]
_MARKERS = ("circle", "square", "triangle-up", "diamond", "x", "star", "cross", "triangle-down", "pentagon", "hexagon")
MARKERS_PER_CURVE = 9
MARKER_SIZE = 8  # pixels
# An algorithm has the same slot in every figure. The ablations of FedMas and FedAvg have four colours.
_SLOTS = {"fedavg": 0, "fedprox": 1, "scaffold": 2, "fednova": 3, "fedmas": 4, "fedcurv": 5, "fedsso": 6}
_SLOTS |= {"fedavgmas": 8, "tfedavg": 9, "tfedavgmas": 11, "feddyn": 12}


@dataclass(frozen=True)
class Look:
    """The style of one algorithm. The first 49 looks all differ in (colour, dash) and in (colour, marker)."""

    colour: str
    dash: str
    marker: str

    def faded(self, opacity: float) -> str:
        """The colour with an opacity, in CSS."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity})"


def look(slot: int) -> Look:
    """The look with number ``slot``; 0 … 6 are the algorithms of the course."""
    repeat, colour = divmod(slot, len(_COLOURS))
    shape = colour + repeat
    return Look(_COLOURS[colour], _DASHES[shape % len(_DASHES)], _MARKERS[shape % len(_MARKERS)])


def looks(algorithms: Mapping[S, str], given: Mapping[S, Look] | None = None) -> dict[S, Look]:
    """A look for each series, from its name to the name of its algorithm.

    Series keep a look that they were ``given`` before. The first series of a known algorithm gets that algorithm's
    look; further series of it, and unknown algorithms, get the looks that are left, in order.
    """
    found = {series: one for series, one in (given or {}).items() if series in algorithms}
    for series, algorithm in algorithms.items():
        slot = known_slot(algorithm)
        if series not in found and slot is not None and look(slot) not in found.values():
            found[series] = look(slot)
    # The black of FedAvg is the last of the colours to be given away.
    order = [*range(1, len(_COLOURS)), 0, *range(len(_COLOURS), len(algorithms) + len(_COLOURS))]
    taken = [*found.values()]
    free = (look(slot) for slot in order if look(slot) not in taken)
    return {series: found[series] if series in found else next(free) for series in algorithms}


def spaced_markers(points: int, planned: int, style: Look) -> dict[str, Any]:
    """Plotly's ``marker`` for a curve of ``points`` so far, with a marker at a few of them.

    The places depend on the ``planned`` length of the curve and on its ``style`` alone. Plotly's own ``maxdisplayed``
    moves the markers when a curve grows, and when another curve appears. Curves of different styles have their
    markers at different places, so one does not hide another.
    """
    step = max(1, math.ceil(planned / MARKERS_PER_CURVE))
    first = _MARKERS.index(style.marker) % 3 * step // 3
    marked = [point == 0 or point % step == first for point in range(points)]
    # A legend has the mean of the sizes, so the mean is the size of a marker; "sizeref" divides the sizes in the chart.
    scale = points / max(1, sum(marked))
    size = [MARKER_SIZE * scale * is_marked for is_marked in marked]
    # Plotly makes markers of several sizes transparent, and draws an edge around them, unless they say otherwise.
    plain = {"opacity": 1, "line": {"width": 0}}
    return {"color": style.colour, "symbol": style.marker, "size": size, "sizeref": scale, **plain}


def known_slot(name: str) -> int | None:
    """The slot of the algorithm that ``name`` begins with, as in "FedProx μ=0.1"; None if it is unknown."""
    first_word = re.match(r"[a-z]*", name.strip().lower())
    return _SLOTS.get(first_word.group()) if first_word else None


def new_figure(*, title: str | None, x_title: str, y_title: str, height: int = 440, legend: bool = True) -> go.Figure:
    """An empty figure in the common style. A title of up to 45 characters fits a telephone."""
    axis = {"showline": True, "linecolor": BLACK, "linewidth": 1, "ticks": "outside", "gridcolor": "#E5E5E5"}
    axis |= {"zeroline": False, "automargin": True}
    template = go.layout.Template(
        layout={
            "font": {"family": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif", "size": 14, "color": BLACK},
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "colorway": _COLOURS,
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"font": {"size": 13}, "align": "left", "namelength": -1},
            "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yref": "container", "yanchor": "bottom"},
            "margin": {"l": 60, "r": 20, "t": 36, "b": 50},
            "modebar": {"remove": _UNWANTED},
        }
    )
    figure = go.Figure()
    figure.update_layout(template=template, height=height, showlegend=legend, xaxis_title=x_title, yaxis_title=y_title)
    if title:
        place = {"x": 0.01, "xref": "container", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
        figure.update_layout(title={"text": title, "font": {"size": 16}, "pad": {"b": 12}, **place}, margin_t=60)
    return figure


def add_band(
    figure: go.Figure, x: Any, low: Any, high: Any, look: Look, *, group: str, name: str | None = None
) -> None:
    """Draw a pale band from ``low`` to ``high`` along ``x``, all [n], hidden together with the curve ``group``."""
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        fill="toself",
        fillcolor=look.faded(0.15),
        line={"width": 0},
        hoverinfo="skip",
        legendgroup=group,
        name=name,
        showlegend=False,
    )


def set_description(figure: go.Figure, text: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Store the text alternative in ``layout.meta["alt"]`` and the main numbers in ``layout.meta["table"]``."""
    figure.update_layout(meta={"alt": text, "table": {"columns": list(columns), "rows": [list(row) for row in rows]}})


def describe(figure: go.Figure) -> str:
    """The figure in words, with its main numbers. Raises ``ValueError`` for a figure without a description."""
    meta = figure.layout.meta
    if not isinstance(meta, dict) or not meta.get("alt"):
        raise ValueError('figure: has no description in layout.meta["alt"]; must be a figure of fedlab_core.plots')
    return meta["alt"]
