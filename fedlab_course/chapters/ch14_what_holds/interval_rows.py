"""Intervals in rows, one below the other: how the figures of chapter 14 draw them."""

from collections.abc import Sequence

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, rgba
from fedlab_core.plots.style import new_figure
from fedlab_course.evidence import forest

_ = translator(__name__)

_ROW = 46  # pixels
_AROUND = 120
_RIGHT = 150  # for the verdicts
_BAND = 0.16  # opacity
_BELOW = 0.3  # rows between an interval and the strokes of its seeds
_BARE = (INK, "line-ns-open")  # the colour and the symbol of an interval without a verdict


def empty(
    title: str, x_title: str, names: Sequence[str], *, band: float = 1.0, row: int = _ROW
) -> go.Figure:
    """A figure with a row for each of ``names``, the first on top, the band from −``band`` to
    ``band``, and a line at zero. ``row``: the height of a row in pixels.
    """
    count = len(names)
    height = _AROUND + row * count
    figure = new_figure(title=title, x_title=x_title, y_title="", height=height, legend=False)
    grey = rgba(GREY, _BAND)
    figure.add_vrect(x0=-band, x1=band, fillcolor=grey, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_yaxes(
        tickvals=list(range(count)),
        ticktext=list(names),
        tickfont={"color": INK, "size": 12},
        range=[count - 0.5, -0.5],
        automargin=True,
        ticks="",
        showline=False,
    )
    return figure


def add_interval(
    figure: go.Figure,
    place: int,
    interval: tuple[float, float, float],
    verdict: str,
    *,
    is_open: bool = False,
    hover: str = "",
) -> None:
    """Add a dot at the mean and a bar over its 95 % ``interval``: mean, low and high.

    The dot has the symbol and the colour of ``verdict``; without a verdict, "", a stroke is at the
    mean. ``is_open``: the correction does not keep the verdict.
    """
    mean, low, high = interval
    colour, symbol = look(verdict)
    bar = {"type": "data", "symmetric": False, "array": [high - mean], "arrayminus": [mean - low]}
    figure.add_scatter(
        x=[mean],
        y=[place],
        mode="markers",
        marker={"color": colour, "symbol": f"{symbol}-open" if is_open else symbol, "size": 10},
        error_x=bar | {"thickness": 2.5, "width": 6, "color": colour},
        name=_("mean and 95 % interval"),
        hovertemplate=f"{hover}<extra></extra>" if hover else None,
    )


def look(verdict: str) -> tuple[str, str]:
    """The colour and the symbol of a ``verdict``, and those of a bare interval for ""."""
    return forest.LOOKS[verdict] if verdict else _BARE


def add_seeds(
    figure: go.Figure,
    place: int,
    values: Sequence[float],
    verdict: str,
    *,
    below: float = _BELOW,
    size: int = 8,
) -> None:
    """Add a stroke for each seed in the colour of ``verdict``, ``below`` the middle of the row, in
    rows. ``size``: the length of a stroke in pixels.
    """
    colour = look(verdict)[0]
    figure.add_scatter(
        x=list(values),
        y=[place + below] * len(values),
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": size,
            "color": colour,
            "line": {"width": 1.2},
        },
        name=_("one seed"),
        opacity=0.7,
    )


def add_text(figure: go.Figure, place: int, text: str, colour: str) -> None:
    """Write the verdict on an interval, or the mark of a claim, on the right of its row."""
    figure.add_annotation(
        x=1,
        xref="paper",
        xshift=6,
        y=place,
        xanchor="left",
        align="left",
        text=text,
        font={"color": colour, "size": 12},
        showarrow=False,
    )
    figure.update_layout(margin_r=_RIGHT)
