"""What figures of several chapters share: a curve with its look, and words before a description."""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.plots.style import Look
from fedlab_course.display import sentences


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
    return figure.update_layout(meta=meta | {"alt": sentences(words, meta["alt"])})
