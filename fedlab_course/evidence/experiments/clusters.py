"""Clusters of clients found in their probes ([004] figure 2), over partition seeds.

100 clients, each from the same initial weights: MLP 784-200-10 on MNIST, and 3072-64-10 on CIFAR-10. OPTICS
(min_samples 2, xi 0.25) on the flat parameters after each kind of probe at rate 0.01, compared with the clients' label
sets (of a shard that straddles two labels, the label of its larger half). DBSCAN on Dirichlet splits over eps, in units
of the median distance to the nearest neighbour, with the knee as default.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering, engines, losses
from fedlab_core.engines import Engine, threads
from fedlab_core.engines.work import Work
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.theory import cluster_quality

NUM_CLIENTS = 100
HIDDEN = {"mnist": (200,), "cifar10": (64,)}
PROBES: dict[str, dict[str, Any]] = {
    "epoch": {"unit": "epochs", "batch_size": 10},
    "full_batch": {"unit": "steps", "batch_size": None},
    "sample": {"unit": "steps", "batch_size": 1},
}
MIN_SHARES = {"iid": 0.02, "two shards": 0.25, "two labels": 0.0, "one shard": 0.5, "one label": 0.0}
PROJECTED = 512
EPS_FACTORS = (0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 2.0)


def partition(name: str, y: torch.Tensor, seed: int) -> list[np.ndarray]:
    """The named split over 100 clients; shards straddle labels where classes differ in size, labels do not."""
    if name == "iid":
        return fl.partition.iid(y, num_clients=NUM_CLIENTS, seed=seed)
    count = 1 if name.startswith("one") else 2
    if name.endswith(("shard", "shards")):
        return fl.partition.shards(y, num_clients=NUM_CLIENTS, shards_per_client=count, seed=seed)
    return fl.partition.labels_per_client(y, num_clients=NUM_CLIENTS, labels_per_client=count, seed=seed)


def create_engine(fed: fl.FederatedDataset, seed: int) -> Engine:
    """The engine with the initial weights of this seed."""
    model = fl.models.mlp(fed, HIDDEN.get(fed.dataset.name, (200,)), seed=seed)
    return engines.create("auto", fed, model, losses.resolve("cross_entropy"), "cpu")


def train(engine: Engine, params: torch.Tensor, kind: str, seed: int, round: int = 0) -> torch.Tensor:
    """All clients' parameters [N, P] after training from ``params`` as a probe (in round 0) or a round at rate 0.01."""
    clients = np.arange(engine.fed.num_clients)
    stream = "batches" if round else "probe"
    work = Work(clients, np.ones_like(clients), lr=0.01, round=round, seed=seed, stream=stream, **PROBES[kind])
    with threads.one_inside():
        return engine.train(params, work, [fl.Correction()] * len(clients)).params


def probe(fed: fl.FederatedDataset, kind: str, seed: int) -> torch.Tensor:
    """The clients' parameters [N, P] after one probe."""
    engine = create_engine(fed, seed)
    return train(engine, engine.model.parameters(), kind, seed)


def optics(seed: int, *, dataset: str, split: str) -> list[Row]:
    """One row per probe and space (all parameters, or 512 random projections of them)."""
    loaded, rows = fl.load_dataset(dataset), []
    fed = fl.FederatedDataset(loaded, partition(split, loaded.train.y, seed))
    groups = cluster_quality.label_groups(fed.parts, fed.y, MIN_SHARES[split])
    for kind in PROBES:
        params = probe(fed, kind, seed)
        projection = clustering.RandomProjection(params.shape[1], PROJECTED, seed)
        full = clustering.optics(params)
        projected = clustering.optics(projection.apply(params))
        for space, found in (("full", full), (f"projected {PROJECTED}", projected)):
            quality = cluster_quality.quality(found.labels, groups.ids)
            rows.append(
                {
                    "dataset": dataset,
                    "partition": split,
                    "probe": kind,
                    "space": space,
                    "seed": seed,
                    "shared_groups": groups.num_shared,
                    "clusters": quality.num_clusters,
                    "pure": quality.num_pure,
                    "noise": quality.num_noise,
                    "purity": quality.purity,
                    "adjusted_rand": quality.adjusted_rand,
                    "same_as_full": same_partition(full.labels, found.labels),
                }
            )
    return rows


def same_partition(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two clusterings agree up to the numbers of their clusters, noise included."""
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first)) == len(set(second)) and np.array_equal(first < 0, second < 0)


def dbscan(seed: int, *, alpha: float) -> list[Row]:
    """MNIST: one row per eps, the knee first."""
    dataset, rows = fl.load_dataset("mnist"), []
    parts = fl.partition.dirichlet(dataset.train.y, num_clients=NUM_CLIENTS, alpha=alpha, by="client", seed=seed)
    params = probe(fl.FederatedDataset(dataset, parts), "epoch", seed)
    nearest = float(np.median(clustering.k_distances(params)))
    for eps in (None, *(nearest * factor for factor in EPS_FACTORS)):
        found = clustering.dbscan(params, eps)
        assert found.eps is not None
        rows.append(
            {
                "alpha": alpha,
                "seed": seed,
                "choice": "knee" if eps is None else f"{eps / nearest:.2f}",
                "eps": found.eps,
                "eps_over_median": found.eps / nearest,
                "clusters": found.num_clusters,
                "noise": found.num_noise,
                "largest": int(found.sizes.max(initial=0)),
            }
        )
    return rows


_SPLITS = [{"dataset": dataset, "split": split} for dataset in HIDDEN for split in MIN_SHARES]
CLUSTERS = Experiment("clusters", optics, _SPLITS, tuple(range(5)))
CLUSTERS_DBSCAN = Experiment("clusters_dbscan", dbscan, [{"alpha": 0.3}, {"alpha": 0.7}], tuple(range(5)))
