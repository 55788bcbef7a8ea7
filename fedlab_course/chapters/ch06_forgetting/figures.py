"""Which parameters matter, as pictures of the inputs, and the tradeoff between a first and a second task."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import nn

from fedlab_core.plots.style import add_band, look, new_figure, set_description
from fedlab_course.explore.figures import COLOURSCALE, add_curve, forgetting, table_of_shares

__all__ = ["forgetting", "importance", "memory", "tradeoff"]

COLUMNS = 5


def importance(
    importances: Mapping[str, Any], model: nn.Module, image_shape: Sequence[int], *, title: str | None = None
) -> go.Figure:
    """The importance of the first layer's weights as pictures: for each pixel, their sum over the hidden units.

    ``importances``: name → [P], in the order of ``model.parameters()``; ``image_shape`` (height, width). All pictures
    share one scale. Raises ``ValueError`` if the first layer does not see each pixel, or for importances of another
    length or below 0.
    """
    height, width = image_shape
    first = next(model.parameters())
    if first.ndim != 2 or first.shape[1] != height * width:
        raise ValueError(
            f"model: its first layer must be linear on {height} × {width} pixels, and its weights are "
            f"{list(first.shape)}"
        )
    if not importances:
        raise ValueError("importances: must hold at least one")
    pictures = {
        str(name): _checked(values, model)[: first.numel()].reshape(first.shape).sum(0).reshape(height, width)
        for name, values in importances.items()
    }
    columns = min(COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    figure = new_figure(title=title, x_title="", y_title="", height=60 + 165 * rows, legend=False)
    figure.set_subplots(rows, columns, subplot_titles=list(pictures), horizontal_spacing=0.02, vertical_spacing=0.16)
    for place, picture in enumerate(pictures.values()):
        row, column = divmod(place, columns)
        hover = "row %{y}, column %{x}<br>%{z:.3g}<extra></extra>"
        figure.add_heatmap(z=picture, coloraxis="coloraxis", hovertemplate=hover, row=row + 1, col=column + 1)
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    bar = {"title": {"text": "sum of Ω", "side": "right"}, "thickness": 12}
    top = max(float(picture.max()) for picture in pictures.values())
    figure.update_layout(coloraxis={"colorscale": COLOURSCALE, "cmin": 0, "cmax": top or 1.0, "colorbar": bar})
    figure.update_annotations(font_size=13)
    _describe_pictures(figure, pictures)
    return figure


def _checked(values: Any, model: nn.Module) -> np.ndarray:
    """As float64 [P], finite and not negative."""
    array = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values, dtype=float)
    expected = sum(parameter.numel() for parameter in model.parameters())
    if array.shape != (expected,):
        raise ValueError(f"importance: must have one value for each of {expected} parameters, got {list(array.shape)}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("importance: must be finite and not negative")
    return array


def _describe_pictures(figure: go.Figure, pictures: Mapping[str, np.ndarray]) -> None:
    rows = []
    for name, picture in pictures.items():
        row, column = np.unravel_index(picture.argmax(), picture.shape)
        rows.append([name, f"{picture.sum():.4g}", f"row {row}, column {column}", f"{(picture == 0).mean():.0%}"])
    text = (
        f"{len(pictures)} pictures of {'×'.join(map(str, next(iter(pictures.values())).shape))} pixels: the importance "
        f"of the first layer's weights for each pixel. Pixels without any: "
        f"{'; '.join(f'{name} {share}' for name, _, _, share in rows)}."
    )
    set_description(figure, text, ["name", "sum", "most important pixel", "pixels without any"], rows)


def tradeoff(points: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """One curve per penalty, one point per λ: accuracy on the first task against that on the second.

    ``points``: name → [L, 3], rows (λ, accuracy on the first task, accuracy on the second) with λ increasing. The upper
    right corner is where nothing is forgotten and everything learned.

    Raises ``ValueError`` for an empty mapping, other shapes, and accuracies outside 0 … 1.
    """
    if not points:
        raise ValueError("points: must hold at least one curve")
    tables = {str(name): _table(values) for name, values in points.items()}
    figure = new_figure(title=title, x_title="accuracy on the second task", y_title="accuracy on the first task")
    for slot, (name, table) in enumerate(tables.items()):
        style = look(slot)
        add_curve(figure, table[:, 2], table[:, 1], name, style, mode="lines+markers+text", size=9)
        hover = "λ=%{customdata:g}<br>first %{y:.1%}<br>second %{x:.1%}"
        font = {"color": style.colour, "size": 12}
        figure.data[-1].update(text=_labels(table), textposition="bottom left", textfont=font)
        figure.data[-1].update(customdata=table[:, 0], hovertemplate=hover)
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    rows = [
        [name, f"{strength:g}", f"{first:.1%}", f"{second:.1%}"]
        for name, table in tables.items()
        for strength, first, second in table
    ]
    best = {name: table[np.argmax(table[:, 1] + table[:, 2])] for name, table in tables.items()}
    phrases = [f"{name} {one[1]:.0%} and {one[2]:.0%} at λ={one[0]:g}" for name, one in best.items()]
    text = f"Accuracy on the first task against the second, a point per λ. Most of both: {'; '.join(phrases)}."
    set_description(figure, text, ["penalty", "λ", "first task", "second task"], rows)
    return figure


def _labels(table: np.ndarray) -> list[str]:
    """λ at both ends of a curve and where it has most of both tasks: more would lie on top of each other."""
    shown = {0, len(table) - 1, int(np.argmax(table[:, 1] + table[:, 2]))}
    return [f"{strength:g}" if row in shown else "" for row, strength in enumerate(table[:, 0])]


def _table(values: Any) -> np.ndarray:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] != 3 or not len(table):
        raise ValueError(f"points: has shape {list(table.shape)}; must be tables with rows (λ, first, second)")
    table_of_shares(table[:, 1:], "points")
    return table


def memory(curves: Mapping[str, Any], *, title: str | None = None) -> go.Figure:
    """Accuracy on a tier's data against the server updates since the tier was trained, one curve per name.

    ``curves``: name → [S, L], for S seeds the accuracy 0, 1, …, L − 1 updates after a tier's own; drawn as their mean
    with a band from minimum to maximum. Raises ``ValueError`` for an empty mapping, other shapes or values.
    """
    if not curves:
        raise ValueError("curves: must hold at least one curve")
    tables = {str(name): table_of_shares(values, "curves") for name, values in curves.items()}
    figure = new_figure(title=title, x_title="updates since its turn", y_title="accuracy on a tier's data")
    for slot, (name, table) in enumerate(tables.items()):
        style, along = look(slot), np.arange(table.shape[1])
        if len(table) > 1:
            add_band(figure, along, table.min(0), table.max(0), style, group=name)
        hover = "%{x} updates later: %{y:.1%}"
        add_curve(figure, along, table.mean(0), name, style, legendgroup=name, hovertemplate=hover)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    rows = [
        [name, len(table), table.shape[1] - 1, f"{table[:, 0].mean():.1%}", f"{table[:, -1].mean():.1%}"]
        for name, table in tables.items()
    ]
    phrases = "; ".join(f"{name} from {first} to {last} after {lag} updates" for name, _, lag, first, last in rows)
    text = f"Accuracy on a tier's data against the server updates since the tier was trained: {phrases}."
    set_description(figure, text, ["name", "seeds", "updates", "just trained", "at the end"], rows)
    return figure
