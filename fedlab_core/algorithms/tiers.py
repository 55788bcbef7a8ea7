"""How FedMas divides its clients into tiers."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedlab_core.algorithms.probe import probe_clients
from fedlab_core.clustering import dbscan, kmeans, settle_noise

if TYPE_CHECKING:
    from fedlab_core.algorithms.fedmas import FedMas
    from fedlab_core.server import Server

TIERS = ("dbscan", "kmeans", "one")


def make_tiers(algorithm: "FedMas", server: "Server") -> np.ndarray:
    """The tier of each client, int64 [N], none of them −1; probes the clients if it has to."""
    if not isinstance(algorithm.tiers, str):
        if len(algorithm.tiers) != server.num_clients:
            raise ValueError(f"tiers: {len(algorithm.tiers)} tiers given for {server.num_clients} clients")
        return np.array(algorithm.tiers, dtype=np.int64)
    if algorithm.tiers == "one":
        return np.zeros(server.num_clients, dtype=np.int64)
    _check_enough_clients(algorithm, server)
    points = probe_clients(
        server,
        lr=algorithm.probe_lr,
        batch_size=algorithm.probe_batch,
        epochs=algorithm.probe_epochs,
        projection=algorithm.projection,
    ).points
    if algorithm.tiers == "kmeans":
        return kmeans(points, algorithm.num_tiers, server.seed).labels
    found = dbscan(points, algorithm.eps, algorithm.min_samples)
    if found.num_clusters == 0:
        warnings.warn(
            f"DBSCAN found no cluster at eps={found.eps:.3g}: every client is noise, and all of them form one tier. "
            "Another eps=…, tiers='kmeans' or given tiers may do better",
            stacklevel=2,
        )
        return np.zeros(server.num_clients, dtype=np.int64)
    return settle_noise(found.labels, points, "nearest").labels


def check_labels(tiers: Sequence[int]) -> list[int]:
    """Given tiers as plain integers; ``ValueError`` unless they are integers ≥ 0."""
    try:
        labels = np.asarray(tiers)
    except ValueError:  # lists of different lengths
        labels = np.empty(0)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or len(labels) == 0 or labels.min() < 0:
        allowed = ", ".join(map(repr, TIERS))
        raise ValueError(f"tiers={tiers!r}: must be one of {allowed}, or an integer ≥ 0 for each client, [N]")
    return [int(label) for label in labels]


def _check_enough_clients(algorithm: "FedMas", server: "Server") -> None:
    name, needed = (
        ("num_tiers", algorithm.num_tiers) if algorithm.tiers == "kmeans" else ("min_samples", algorithm.min_samples)
    )
    if server.num_clients < needed:
        raise ValueError(f"{name}={needed}: the federation has only {server.num_clients} clients")
