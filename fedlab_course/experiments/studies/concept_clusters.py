"""Chapter 11: which clusterings of FedSSO's probe find groups with names of their own?

The split "concepts" of the table ``several``, with the same seeds: 40 clients of four groups that
call the same digits by different labels. Beside OPTICS at ξ = 0.25 ("per cluster" there): k-means
with as many clusters as IFCA has models, and DBSCAN at the knee of its distances. Each cluster
trains a model of its own by FedAvg.

"concept_probes", on other seeds: the same clusterings and IFCA with a quarter of the samples held
out, as above, and with all samples in training. ``nearest``: the share of clients whose nearest
client, by the probe's moves, is of the same group.
"""

import numpy as np
from torch import nn

import fedlab_core as fl
from fedlab_core import algorithms, clustering
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS
from fedlab_course.experiments.studies import several_models
from fedlab_course.methods import probes, several
from fedlab_course.theory import cluster_quality

CLUSTERED = {
    "per cluster, k-means": several.PerKMeans(
        noise="nearest", num_clusters=several_models.NUM_GROUPS
    ),
    "per cluster, DBSCAN": several.PerDbscan(noise="nearest"),
}


def run(seed: int, *, split: str) -> list[ResultRow]:
    """One row for each clustering, as in the table ``several``."""
    return several_models.served_rows(seed, split, CLUSTERED)


def probed(seed: int, *, held_out: float) -> list[ResultRow]:
    """One row for each clustering of the probe, and one for IFCA's choice of models."""
    dealt = several_models.federation("concepts", seed)
    model = fl.models.mlp(dealt.fed, seed=seed)
    work = DIGITS | {"held_out": held_out, "eval_every": DIGITS["rounds"], "progress": False}
    training = fl.Simulation(dealt.fed, model, fl.FedAvg(), **work, seed=seed).fed
    start = nn.utils.parameters_to_vector(model.parameters()).detach()
    moves = (probes.train(training, model, seed=seed).params - start).double().numpy()
    same = float((dealt.ids[_nearest(moves)] == dealt.ids).mean())
    choice = algorithms.IFCA(num_models=several_models.NUM_GROUPS)
    found = {
        "k-means": clustering.kmeans(moves, several_models.NUM_GROUPS, seed).labels,
        "OPTICS": clustering.optics(moves).labels,
        "DBSCAN": clustering.dbscan(moves).labels,
        "IFCA": several.serve(dealt.fed, model, choice, dealt.tests, **work, seed=seed).models,
    }
    rows = list[ResultRow]()
    for name, labels in found.items():
        quality = cluster_quality.quality(labels, dealt.ids)
        row: ResultRow = {"clustering": name, "adjusted_rand": quality.adjusted_rand}
        row |= {"clusters": quality.num_clusters, "noise": quality.num_noise, "nearest": same}
        rows.append(row)
    return rows


def _nearest(points: np.ndarray) -> np.ndarray:
    """The nearest other point of each of the ``points`` [N, D]."""
    squares = np.square(points).sum(axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    return distances.argmin(axis=1)


CONCEPT_CLUSTERS = Experiment(
    "concept_clusters", run, [{"split": "concepts"}], columns={"split": "partition"}
)
CONCEPT_PROBES = Experiment(
    "concept_probes", probed, [{"held_out": share} for share in (0.0, 0.25)]
)
