"""Which parameters matter: an importance per parameter (MAS or Fisher) as a picture and by layer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import nn

from fedlab_core.plots.forgetting import COLOURSCALE
from fedlab_core.plots.style import BLACK, BLUE, VERMILLION, new_figure, set_description

COLUMNS = 5
_MARKS = (("5 % to 95 %", None), ("median", "line-ew-open"), ("mean", "diamond"), ("largest", "triangle-up"))


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


def importance_by_layer(importance: Any, model: nn.Module, *, title: str | None = None) -> go.Figure:
    """How large the importance of single parameters is in each layer, on a logarithmic axis.

    ``importance`` [P], in the order of ``model.parameters()``. A bar from the 5 % to the 95 % quantile of the
    parameters whose importance is not zero, with their median, mean and maximum. Errors as for :func:`importance`.
    """
    values = _checked(importance, model)
    sizes = [parameter.numel() for parameter in model.parameters()]
    names = [name for name, _ in model.named_parameters()]
    parts = dict(zip(names, np.split(values, np.cumsum(sizes)[:-1]), strict=True))
    measured = {name: _summary(part) for name, part in parts.items()}
    figure = new_figure(title=title, x_title="Ω of a parameter", y_title="layer", height=200 + 44 * len(parts))
    for name, (low, high, *_) in measured.items():
        figure.add_scatter(
            x=[low, high],
            y=[name, name],
            mode="lines",
            line={"color": BLUE, "width": 10},
            opacity=0.35,
            name=_MARKS[0][0],
            legendgroup="quantiles",
            showlegend=name == names[0],
            hovertemplate="%{x:.3g}",
        )
    for place, (label, symbol) in enumerate(_MARKS[1:], start=2):
        colour = (BLACK, BLUE, VERMILLION)[place - 2]
        figure.add_scatter(
            x=[numbers[place] for numbers in measured.values()],
            y=names,
            mode="markers",
            name=label,
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
            hovertemplate="%{x:.3g}",
        )
    figure.update_xaxes(type="log", dtick=1, tickformat="~g")
    figure.update_yaxes(type="category", autorange="reversed")
    _describe_layers(figure, parts, measured)
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


def _summary(part: np.ndarray) -> list[float]:
    """5 % and 95 % quantile, median, mean and maximum of what is not zero; NaN if everything is."""
    present = part[part > 0]
    if not len(present):
        return [np.nan] * 5
    low, high, median = np.quantile(present, [0.05, 0.95, 0.5])
    return [float(low), float(high), float(median), float(present.mean()), float(present.max())]


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


def _describe_layers(figure: go.Figure, parts: Mapping[str, np.ndarray], measured: Mapping[str, list[float]]) -> None:
    rows = [
        [name, len(part), f"{(part == 0).mean():.0%}", *(f"{number:.3g}" for number in measured[name][2:])]
        for name, part in parts.items()
    ]
    phrases = [f"{name} median {median}, largest {top}" for name, _, _, median, _, top in rows]
    text = f"Importance of single parameters by layer, zeros left out: {'; '.join(phrases)}."
    set_description(figure, text, ["layer", "parameters", "zero", "median", "mean", "largest"], rows)
