"""Samples per client and label."""

import numpy as np
import plotly.graph_objects as go

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.plots.style import GREY, new_figure, set_description


def partition(fed: FederatedDataset, *, title: str | None = None) -> go.Figure:
    """Draw the number of samples of each label (rows) and client (columns), with bars for the clients' sizes.

    Raises ``ValueError`` for regression data.
    """
    measured = fed.heterogeneity()
    counts = measured.label_counts
    names = [str(column) for column in measured.frame.columns[2:-2]]
    height = 190 + max(200, min(24 * len(names), 480))
    figure = new_figure(title=title, x_title="client", y_title="label", height=height, legend=False)
    ids = np.arange(len(counts))
    gap = 1.0 if len(ids) <= 50 else 0.4 if len(ids) <= 150 else 0.0
    bar = {"title": {"text": "samples", "side": "right"}, "thickness": 12, "len": 0.72, "y": 0, "yanchor": "bottom"}
    figure.add_heatmap(
        z=np.where(counts > 0, counts, np.nan).T,
        x=ids,
        y=names,
        colorscale=[(0, "#DCE9F5"), (0.5, "#4A90C2"), (1, "#08306B")],
        zmin=1,
        zmax=max(2, int(counts.max())),
        xgap=gap,
        ygap=1,
        colorbar=bar,
        hovertemplate="client %{x}<br>label %{y}<br>%{z} samples<extra></extra>",
    )
    hover = "client %{x}: %{y} samples<extra></extra>"
    figure.add_bar(x=ids, y=counts.sum(1), yaxis="y2", marker={"color": GREY}, hovertemplate=hover)
    figure.update_layout(
        bargap=0.15 if gap else 0,
        yaxis={"domain": [0, 0.72], "type": "category", "showgrid": False},
        yaxis2={"domain": [0.78, 1], "title": "samples", "nticks": 4, "rangemode": "tozero", "automargin": True},
        xaxis={"anchor": "y", "showgrid": False, "range": [-0.5, len(counts) - 0.5]},
    )
    totals = measured.totals
    text = (
        f"Heat map: samples per label (rows) and client (columns), with bars for the size of each client. "
        f"{totals['clients']} clients hold {totals['size_min']} to {totals['size_max']} samples and on average "
        f"{totals['labels_per_client']:.1f} labels each; mean EMD {totals['emd']:.2f}, mean Jensen–Shannon distance "
        f"{totals['js']:.2f}."
    )
    rows = [[name.replace("_", " "), f"{value:.4g}"] for name, value in totals.items()]
    set_description(figure, text, ["quantity", "value"], rows)
    return figure
