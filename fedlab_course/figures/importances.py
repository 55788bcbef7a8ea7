"""Which parameters matter: an importance per parameter (MAS or Fisher), as a picture of the inputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import nn

from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.figures.tiers import COLOURSCALE

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
