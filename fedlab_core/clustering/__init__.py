"""Clusters of clients, found in what they upload: density clustering, noise, and a projection for many."""

from fedlab_core.clustering.density import Clustering, dbscan, k_distances, kmeans, knee, optics
from fedlab_core.clustering.noise import settle_noise
from fedlab_core.clustering.projection import RandomProjection

__all__ = ["Clustering", "RandomProjection", "dbscan", "k_distances", "kmeans", "knee", "optics", "settle_noise"]
