"""Which parameters matter, as pictures of the inputs, and the tradeoff between a first and a second task."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from torch import nn

from fedlab_core.plots.style import look, new_figure, set_description
from fedlab_course.explore.figures import COLOURSCALE, add_curve, forgetting

__all__ = ["forgetting", "importance", "memory", "tradeoff"]

COLUMNS = 5


def importance(importances: Mapping[str, Any], model: nn.Module, image_shape: Sequence[int]) -> go.Figure:
    """The importance of the first layer's weights as pictures: for each pixel, their sum over the hidden units.

    ``importances``: name → [P], in the order of ``model.parameters()``; the first layer must be linear on all pixels
    of ``image_shape`` (height, width). All pictures share one scale.
    """
    height, width = image_shape
    first = next(model.parameters())
    pictures = {}
    for name, values in importances.items():
        weights = np.asarray(values, dtype=float)[: first.numel()].reshape(first.shape)
        pictures[name] = weights.sum(0).reshape(height, width)
    columns = min(COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    figure = new_figure(title=None, x_title="", y_title="", height=60 + 165 * rows, legend=False)
    figure.set_subplots(rows, columns, subplot_titles=list(pictures), horizontal_spacing=0.02, vertical_spacing=0.16)
    described = []
    for place, (name, picture) in enumerate(pictures.items()):
        row, column = divmod(place, columns)
        hover = "row %{y}, column %{x}<br>%{z:.3g}<extra></extra>"
        figure.add_heatmap(z=picture, coloraxis="coloraxis", hovertemplate=hover, row=row + 1, col=column + 1)
        row, column = np.unravel_index(picture.argmax(), picture.shape)
        none = f"{(picture == 0).mean():.0%}"
        described.append([name, f"{picture.sum():.4g}", f"row {row}, column {column}", none])
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    bar = {"title": {"text": "sum of Ω", "side": "right"}, "thickness": 12}
    top = max(float(picture.max()) for picture in pictures.values())
    figure.update_layout(coloraxis={"colorscale": COLOURSCALE, "cmin": 0, "cmax": top, "colorbar": bar})
    figure.update_annotations(font_size=13)
    text = (
        f"{len(pictures)} pictures of {height}×{width} pixels: the importance of the first layer's weights for each "
        f"pixel. Pixels without any: {'; '.join(f'{name} {none}' for name, _, _, none in described)}."
    )
    set_description(figure, text, ["name", "sum", "most important pixel", "pixels without any"], described)
    return figure


def tradeoff(points: Mapping[str, np.ndarray], *, title: str) -> go.Figure:
    """One curve per penalty, one point per λ: accuracy on the first task against that on the second.

    ``points``: name → [L, 3], rows (λ, accuracy on the first task, accuracy on the second) with λ increasing. λ is
    written at both ends of a curve and where it has most of both tasks.
    """
    figure = new_figure(title=title, x_title="accuracy on the second task", y_title="accuracy on the first task")
    rows, phrases = [], []
    for slot, (name, table) in enumerate(points.items()):
        strength, first, second = table.T
        best = int(np.argmax(first + second))
        labels = [f"{one:g}" if row in (0, best, len(table) - 1) else "" for row, one in enumerate(strength)]
        add_curve(
            figure,
            second,
            first,
            name,
            look(slot),
            mode="lines+markers+text",
            size=9,
            text=labels,
            textposition="bottom left",
            textfont={"color": look(slot).colour, "size": 12},
            customdata=strength,
            hovertemplate="λ=%{customdata:g}<br>first %{y:.1%}<br>second %{x:.1%}",
        )
        rows += [[name, f"{one:g}", f"{left:.1%}", f"{right:.1%}"] for one, left, right in table]
        phrases.append(f"{name} {first[best]:.0%} and {second[best]:.0%} at λ={strength[best]:g}")
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    text = f"Accuracy on the first task against the second, a point per λ. Most of both: {'; '.join(phrases)}."
    set_description(figure, text, ["penalty", "λ", "first task", "second task"], rows)
    return figure


def memory(curves: Mapping[str, np.ndarray], *, title: str) -> go.Figure:
    """Accuracy on a tier's data 0, 1, …, L − 1 server updates after the tier was trained, one curve [L] per name."""
    figure = new_figure(title=title, x_title="updates since its turn", y_title="accuracy on a tier's data")
    rows = []
    for slot, (name, values) in enumerate(curves.items()):
        later, hover = np.arange(len(values)), "%{x} updates later: %{y:.1%}"
        add_curve(figure, later, values, name, look(slot), hovertemplate=hover)
        rows.append([name, int(later[-1]), f"{values[0]:.1%}", f"{values[-1]:.1%}"])
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    phrases = "; ".join(f"{name} from {first} to {last} after {lag} updates" for name, lag, first, last in rows)
    text = f"Accuracy on a tier's data against the server updates since the tier was trained: {phrases}."
    set_description(figure, text, ["name", "updates", "just trained", "at the end"], rows)
    return figure
