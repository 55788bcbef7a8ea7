"""Which clusters of clients are found in their probes ([004] figure 2)?

100 clients, each from the same initial weights: MLP 784-200-10 on MNIST, and 3072-64-10 on
CIFAR-10. OPTICS (min_samples 2, xi 0.25) on the flat parameters after each kind of probe at rate
0.01, compared with the clients' label sets (of a shard that straddles two labels, the label of its
larger half). ``surplus``: clusters less the sets that two clients or more hold, which is all that
it can find. DBSCAN on Dirichlet splits over eps, in units of the median distance to the nearest
neighbour, with the knee as default.

"variance", stratified sampling ([004] section 3.3): E‖w − w̄‖² of the mean of 10 of 100 clients'
models, on MNIST. All clients train an epoch from the mean of their probes, as in the first round of
FedSSO. Simple random sampling, and systematic sampling along the clusters that OPTICS finds, in
closed form. ``inclusion_error``: the largest |π_k N/K − 1| of the systematic draw, over all of its
starts.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import deal
from fedlab_course.methods.probes import HIDDEN, PROBES, network, probe, train
from fedlab_course.theory import cluster_quality

MIN_SHARES = {
    "iid": 0.02,
    "two shards": 0.25,
    "two labels": 0.0,
    "one shard": 0.5,
    "one label": 0.0,
}
COHORT = 10
EPS_FACTORS = (0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 2.0)


def optics(seed: int, *, dataset: str, split: str) -> list[ResultRow]:
    """One row for each probe."""
    fed = deal(split, seed, dataset=dataset)
    rows = list[ResultRow]()
    groups = cluster_quality.label_groups(fed.parts, fed.y, MIN_SHARES[split])
    shared = int((np.bincount(groups) >= 2).sum())
    for kind in PROBES:
        clustered = clustering.optics(probe(fed, kind, seed))
        quality = cluster_quality.quality(clustered.labels, groups)
        row: ResultRow = {
            "probe": kind,
            "shared_groups": shared,
            "clusters": quality.num_clusters,
            "surplus": quality.num_clusters - shared,
            "pure": quality.num_pure,
            "noise": quality.num_noise,
        }
        rows.append(row | {"purity": quality.purity, "adjusted_rand": quality.adjusted_rand})
    return rows


def dbscan(seed: int, *, alpha: float) -> list[ResultRow]:
    """MNIST: one row for each eps, the knee first."""
    dataset = fl.load_dataset("mnist")
    rows = list[ResultRow]()
    parts = fl.partition.dirichlet(
        dataset.train.y, num_clients=100, alpha=alpha, by="client", seed=seed
    )
    params = probe(fl.FederatedDataset(dataset, parts), "epoch", seed)
    nearest = float(np.median(clustering.k_distances(params)))
    for eps in (None, *(nearest * factor for factor in EPS_FACTORS)):
        clustered = clustering.dbscan(params, eps)
        assert clustered.eps is not None
        row: ResultRow = {
            "choice": "knee" if eps is None else f"{eps / nearest:.2f}",
            "eps": clustered.eps,
            "eps_over_median": clustered.eps / nearest,
            "clusters": clustered.num_clusters,
            "noise": clustered.num_noise,
        }
        rows.append(row | {"largest": int(clustered.sizes.max(initial=0))})
    return rows


def variance(seed: int, *, split: str) -> list[ResultRow]:
    """One row for each design."""
    fed = deal(split, seed, dataset="mnist")
    model = network(fed, seed)
    probed = train(fed, model, seed=seed).params
    labels = clustering.optics(probed).labels
    shares = torch.from_numpy(fed.weights).to(probed)
    models = (
        train(fed, model, shares @ probed, round=1, seed=seed, stream="batches")
        .params.double()
        .numpy()
    )
    places = (np.arange(len(models))[:, None] + len(models) * np.arange(COHORT)) // COHORT
    systematic: ResultRow = {
        "design": "systematic",
        "variance": theory.systematic_variance(models, labels, COHORT),
    }
    systematic["inclusion_error"] = float(abs(np.bincount(places.ravel()) / COHORT - 1).max())
    return [{"design": "simple", "variance": theory.simple_variance(models, COHORT)}, systematic]


_SPLITS = [{"dataset": dataset, "split": split} for dataset in HIDDEN for split in MIN_SHARES]
CLUSTERS = Experiment("clusters", optics, _SPLITS, columns={"split": "partition"})
CLUSTERS_DBSCAN = Experiment("clusters_dbscan", dbscan, [{"alpha": 0.3}, {"alpha": 0.7}])
VARIANCE = Experiment(
    "variance", variance, [{"split": split} for split in MIN_SHARES], columns={"split": "partition"}
)
