"""A sample, and what the gradient of one layer tells of it, as two pictures."""

import numpy as np
import plotly.graph_objects as go
import torch

from fedlab_core.language import translator
from fedlab_core.plots.style import new_figure, set_description

_ = translator(__name__)


def side_by_side(sample: torch.Tensor, read: torch.Tensor) -> go.Figure:
    """The ``sample`` [1, 1, H, W] that the client holds, and what the server ``read``, a vector of
    H·W values.
    """
    height, width = sample.shape[-2:]
    held = sample.reshape(height, width).numpy()
    found = read.detach().reshape(height, width).numpy()
    gap = float(np.abs(held - found).max())
    figure = new_figure(
        title=_("What the client holds, and what the server reads"),
        x_title="",
        y_title="",
        height=330,
        legend=False,
    )
    hidden = {"visible": False}
    upright = hidden | {"autorange": "reversed"}
    figure.update_layout(
        xaxis=hidden | {"domain": [0.05, 0.45]},
        yaxis=upright | {"scaleanchor": "x", "domain": [0, 0.86]},
        xaxis2=hidden | {"domain": [0.55, 0.95], "anchor": "y2"},
        yaxis2=upright | {"scaleanchor": "x2", "anchor": "x2", "domain": [0, 0.86]},
    )
    for axes, picture, words in (("", held, _("held")), ("2", found, _("read"))):
        figure.add_heatmap(z=picture, xaxis=f"x{axes}", yaxis=f"y{axes}", showscale=False)
        figure.data[-1].update(colorscale="Greys", zmin=0, zmax=float(held.max()))
        place = {
            "x": 0.5,
            "xref": f"x{axes} domain",
            "y": 0.9,
            "yref": "paper",
            "yanchor": "bottom",
        }
        figure.add_annotation(**place, text=words, showarrow=False)
    text = _(
        "Two pictures of one digit: the sample that the client holds, and the quotient that the "
        "server computes from the gradient. No pixel differs by more than {gap:.1g}."
    ).format(gap=gap)
    rows = [
        [_("row {number}").format(number=row), *(f"{value:.2f}" for value in found[row])]
        for row in range(height)
    ]
    set_description(figure, text, [_("read"), *map(str, range(width))], rows)
    return figure
