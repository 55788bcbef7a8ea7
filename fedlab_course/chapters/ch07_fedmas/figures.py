"""What DBSCAN finds for each of its radii."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import GREY, look, new_figure, set_description
from fedlab_course.explore.figures import add_curve, forgetting, intervals

__all__ = ["eps_sweep", "forgetting", "intervals"]

SERIES = ("tiers", "noise clients", "clients in the largest tier")


def eps_sweep(multiples: Sequence[float], found: Any, *, knee: float, title: str | None = None) -> go.Figure:
    """Tiers, noise clients and the largest tier against eps, in units of the median distance to the nearest neighbour.

    ``multiples`` [M] increasing; ``found`` [M, 3] with a column for each of ``SERIES``; ``knee``: where the library's
    default lies.
    """
    table = np.asarray(found, dtype=float)
    figure = new_figure(title=title, x_title="eps / median distance", y_title="clients, or tiers")
    for slot, (name, values) in enumerate(zip(SERIES, table.T, strict=True)):
        hover = "eps %{x:g} times the median<br>%{y:g}"
        add_curve(figure, list(multiples), values, name, look(slot), size=9, hovertemplate=hover)
    figure.update_xaxes(type="log", tickvals=[0.8, 1, 1.2, 1.4, 2, 3], tickangle=0)
    figure.add_vline(x=knee, line={"color": GREY, "dash": "dot", "width": 2})
    place = {"x": float(np.log10(knee)), "xanchor": "right", "y": 1, "yref": "paper", "yanchor": "top"}
    figure.add_annotation(text="knee", showarrow=False, **place)
    rows = [[f"{m:g}", *(f"{value:g}" for value in row)] for m, row in zip(multiples, table, strict=True)]
    phrases = [f"at {m} {tiers} tiers, {noise} noise clients" for m, tiers, noise, _ in rows]
    text = f"Tiers and noise clients that DBSCAN finds against eps: {'; '.join(phrases)}. The knee lies at {knee:.2f}."
    set_description(figure, text, ["eps", *SERIES], rows)
    return figure
