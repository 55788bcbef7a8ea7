"""Who holds what: the labels of the first clients under several partitions."""

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.style import BLUE, new_figure, set_description
from fedlab_course.evidence.bands import divide

CLIENTS = 10
_HEIGHT, _LARGEST = 630, 20  # pixels


def mixes(dataset: str = "digits", alphas: tuple[float, ...] = (0.3, 0.7), *, title: str) -> go.Figure:
    """Draw the samples of each label of the first ten of 100 Dirichlet clients as discs, one panel for each α."""
    data = fl.load_dataset(dataset)
    figure = new_figure(title=title, x_title="", y_title="", height=_HEIGHT, legend=False)
    divide(figure, [f"Dirichlet, α = {alpha:g}" for alpha in alphas], "client", "label")
    counts = {}
    for alpha in alphas:
        parts = fl.partition.dirichlet(data.train.y, num_clients=100, alpha=alpha, seed=0)
        counts[alpha] = fl.FederatedDataset(data, parts).heterogeneity().label_counts[:CLIENTS]
    most = max(int(count.max()) for count in counts.values())
    names = [str(name) for name in data.classes]
    rows, held_by = [], []
    for panel, (alpha, count) in enumerate(counts.items(), start=1):
        client, label = np.nonzero(count)
        held = count[client, label]
        figure.add_scatter(
            x=client,
            y=label,
            customdata=held,
            mode="markers",
            marker={"color": BLUE, "size": _LARGEST * np.sqrt(held / most), "line": {"width": 0}},
            hovertemplate="client %{x}, label %{y}: %{customdata} samples<extra></extra>",
            row=panel,
            col=1,
        )
        rows += [[f"{alpha:g}", k, int((one > 0).sum()), f"{one.max() / one.sum():.0%}"] for k, one in enumerate(count)]
        held_by.append(f"α = {alpha:g}: {np.mean((count > 0).sum(1)):.1f} labels a client")
    figure.update_xaxes(range=[-0.7, CLIENTS - 0.3], dtick=1)
    figure.update_yaxes(range=[-0.7, len(names) - 0.3], tickvals=list(range(len(names))), ticktext=names)
    text = f"Discs: samples of each label that the first {CLIENTS} of 100 clients hold, {data.name}. "
    set_description(figure, f"{text}{'; '.join(held_by)}.", ["α", "client", "labels", "share of the largest"], rows)
    return figure
