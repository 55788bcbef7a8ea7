"""Explorer: where clients that are away lead. Explorer: cohorts drawn blindly and from strata."""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core import sampling
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.data.dataset import Dataset
from fedlab_course import theory
from fedlab_course.chapters.ch04_who_is_asked import figures
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.sliders import Slider
from fedlab_course.theory import cluster_quality

PRESENCES = np.linspace(0.02, 1, 50).tolist()
_DELTA = 0.1
_GROUPS, _LAST = (2, 3, 5, 10, 20), (1.0, 3.0, 7.0, 14.0)
_CLIENTS, _DRAWS = 100, 400
_SIZES, _LABELS = (5, 10, 20, 30, 50), (1, 2, 3, 5)


def absence(*, marks: Mapping[str, tuple[float, float]] | None = None, **options: Any) -> Idea:
    """Resting points of Example 1 of [004] against the presence of its last group. Sliders ``size`` and ``last``.

    Four groups of ``size`` clients want 0, 1, 2 and ``last``; those of the last are there with a probability, and four
    clients are drawn. ``marks``: runs to draw beside the formulas, as ``figures.rests_by_presence``
    takes them. ``options``: those of ``Idea``, ``goal`` and ``live``.
    """

    def draw(size: int, last: float) -> go.Figure:
        group = theory.AbsentGroup(size, (0.0, 1.0, 2.0, last))
        ways = {
            "FedAvg": group.fedavg,
            "Hájek": group.hajek,
            "Horvitz–Thompson": group.horvitz_thompson,
            "FedSSO, one of each": group.one_of_each,
        }
        lines = {name: [way(p) for p in PRESENCES] for name, way in ways.items()}
        figure = figures.rests_by_presence(PRESENCES, lines, optimum=group.optimum, band=_DELTA, marks=marks or {})
        return prefixed(figure, f"Groups of {size}, the last at {last:g}.")

    sliders = {
        "size": Slider.over("clients in a group", _GROUPS, 10, "All four groups are as large", moving=False),
        "last": Slider.over("mean of the last group", _LAST, 7.0, "The others want 0, 1 and 2", moving=False),
    }
    return Idea(draw, sliders, **options)


def cohorts(data: Dataset | None = None, **options: Any) -> Idea:
    """How many labels a cohort misses, drawn blindly or from strata. Sliders ``clients`` and ``labels``.

    100 clients hold some labels of ``data`` (digits if None); a stratum is the clients with the same labels, and the
    draw from strata is :class:`fedlab_core.sampling.Systematic`. 400 cohorts of either kind.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    data = load_dataset("digits") if data is None else data

    def draw(clients: int, labels: int) -> go.Figure:
        parts = partition.labels_per_client(data.train.y, num_clients=_CLIENTS, labels_per_client=labels, seed=0)
        fed = FederatedDataset(data, parts)
        holds = fed.heterogeneity().label_counts > 0
        strata = cluster_quality.label_groups(fed.parts, fed.y)
        designs = {
            "blind": sampling.Uniform(np.ones(_CLIENTS, dtype=bool), clients),
            "from strata": sampling.Systematic(strata, clients),
        }
        rng = np.random.default_rng(0)
        counts = {
            name: np.array([(~holds[design.draw(rng)].any(axis=0)).sum() for _ in range(_DRAWS)])
            for name, design in designs.items()
        }
        figure = figures.missing(counts, title=f"{clients} clients drawn, {labels} labels each")
        about = f"By the formula a blind cohort misses {expected_missing(holds, clients):.2f} labels."
        return prefixed(figure, f"K={clients}, {labels} labels. {about}")

    cost = "Each costs a model down and one up"
    sliders = {
        "clients": Slider.over("clients in a cohort K", _SIZES, 10, cost, moving=False),
        "labels": Slider.over("labels per client", _LABELS, 1, "1 is the extreme split of [004]", moving=False),
    }
    return Idea(draw, sliders, **options)


def expected_missing(holds: np.ndarray, clients_per_round: int) -> float:
    """Labels that a uniform cohort misses on average: Σ over labels of C(N − H_c, K)/C(N, K).

    ``holds`` bool [N, labels]: who holds which.
    """
    num, holders = len(holds), holds.sum(axis=0)
    return sum(comb(num - int(h), clients_per_round) for h in holders) / comb(num, clients_per_round)
