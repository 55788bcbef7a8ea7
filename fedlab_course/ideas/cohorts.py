"""Explorer: cohorts drawn blindly and from strata."""

from math import comb

import numpy as np
import plotly.graph_objects as go

from fedlab_core import sampling
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.data.dataset import Dataset
from fedlab_course import cluster_quality, figures
from fedlab_course.chart import ladder
from fedlab_course.goals import Goal
from fedlab_course.ideas.idea import Idea

_CLIENTS, _DRAWS = 100, 400
_SIZES, _LABELS = (5, 10, 20, 30, 50), (1, 2, 3, 5)


def cohorts(
    data: Dataset | None = None,
    *,
    clients_per_round: int = 10,
    labels_per_client: int = 1,
    seed: int = 0,
    goal: Goal | None = None,
    live: bool | None = None,
) -> Idea:
    """How many labels a cohort misses, drawn blindly or from strata. Sliders ``clients`` and ``labels``.

    100 clients hold ``labels_per_client`` labels of ``data`` (digits if None); a stratum is the clients with the same
    labels, and the draw from strata is :class:`fedlab_core.sampling.Systematic`. 400 cohorts of either kind.
    """
    data = load_dataset("digits") if data is None else data

    def draw(clients: int, labels: int) -> go.Figure:
        parts = partition.labels_per_client(data.train.y, num_clients=_CLIENTS, labels_per_client=labels, seed=seed)
        fed = FederatedDataset(data, parts)
        holds = fed.heterogeneity().label_counts > 0
        strata = cluster_quality.label_groups(fed.parts, fed.y).ids
        everybody = np.ones(_CLIENTS, dtype=bool)
        designs = {
            "blind": sampling.Uniform(everybody, clients),
            "from strata": sampling.Systematic(strata, clients),
        }
        rng = np.random.default_rng(seed)
        counts = {
            name: np.array([(~holds[design.draw(rng)].any(axis=0)).sum() for _ in range(_DRAWS)])
            for name, design in designs.items()
        }
        figure = figures.missing(counts, title=f"{clients} clients drawn, {labels} labels each")
        about = f"By the formula a blind cohort misses {expected_missing(holds, clients):.2f} labels."
        meta = figure.layout.meta
        return figure.update_layout(meta=meta | {"alt": f"K={clients}, {labels} labels. {meta['alt']} {about}"})

    sliders = {
        "clients": ladder("clients in a cohort K", _SIZES, clients_per_round, "Each costs a model down and one up"),
        "labels": ladder("labels per client", _LABELS, labels_per_client, "1: the split that [004] calls extreme"),
    }
    return Idea(draw, sliders, goal=goal, live=live)


def expected_missing(holds: np.ndarray, clients_per_round: int) -> float:
    """Labels that a uniform cohort misses on average: Σ over labels of C(N − H_c, K)/C(N, K).

    ``holds`` bool [N, labels]: who holds which.
    """
    num, holders = len(holds), holds.sum(axis=0)
    return sum(comb(num - int(h), clients_per_round) for h in holders) / comb(num, clients_per_round)
