"""Clusters of clients, found in what they upload: density clustering, noise, quality, and a projection for many."""

from fedlab_core.clustering.density import Clustering, dbscan, k_distances, kmeans, knee, optics
from fedlab_core.clustering.noise import NOISE, NOISE_POLICIES, settle_noise
from fedlab_core.clustering.projection import RandomProjection
from fedlab_core.clustering.quality import LabelGroups, Quality, label_groups, quality

__all__ = [
    "NOISE",
    "NOISE_POLICIES",
    "Clustering",
    "LabelGroups",
    "Quality",
    "RandomProjection",
    "dbscan",
    "k_distances",
    "kmeans",
    "knee",
    "label_groups",
    "optics",
    "quality",
    "settle_noise",
]
