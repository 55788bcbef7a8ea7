"""Cluster clients by their uploads: density clustering, noise policies, and a random projection."""

from fedlab_core.clustering.density import (
    Clustering,
    dbscan,
    k_distances,
    kmeans,
    knee,
    optics,
    settle_noise,
)
from fedlab_core.clustering.projection import project

__all__ = [
    "Clustering",
    "dbscan",
    "k_distances",
    "kmeans",
    "knee",
    "optics",
    "project",
    "settle_noise",
]
