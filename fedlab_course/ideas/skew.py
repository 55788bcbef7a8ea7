"""Explorer: what the Dirichlet concentration α does to the clients."""

import plotly.graph_objects as go

from fedlab_core import plots
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.data.dataset import Dataset
from fedlab_course.chart import ladder
from fedlab_course.goals import Goal
from fedlab_course.ideas.idea import Idea

_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0)


def skew(
    data: Dataset | None = None,
    *,
    alpha: float = 0.3,
    num_clients: int = 50,
    by: str = "client",
    seed: int = 0,
    goal: Goal | None = None,
    live: bool | None = None,
) -> Idea:
    """Who holds what when ``data`` (digits if None) is dealt with label mixes from Dir(α). Sliders ``alpha``, ``seed``.

    ``by``: "client" or "class", the two laws of :func:`fedlab_core.partition.dirichlet`.
    """
    data = load_dataset("digits") if data is None else data

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = partition.dirichlet(data.train.y, num_clients=num_clients, alpha=alpha, by=by, seed=seed)
        figure = plots.partition(FederatedDataset(data, parts))
        meta = figure.layout.meta
        return figure.update_layout(meta=meta | {"alt": f"Dirichlet α={alpha:g}, seed {seed}. {meta['alt']}"})

    sliders = {
        "alpha": ladder("α of Dirichlet", _ALPHAS, alpha, "Small: few labels per client", continuous=True),
        "seed": ladder("seed", range(10), seed, "Another draw from the same law", continuous=True),
    }
    return Idea(draw, sliders, goal=goal, live=live)
