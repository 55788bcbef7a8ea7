"""Policies for clients that are in no cluster."""

from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.clients.groups import members_of

NOISE_POLICIES = ("keep", "drop", "nearest")


def settle_noise(labels: np.ndarray, points: Any, policy: str = "keep") -> np.ndarray:
    """Apply a noise ``policy`` to ``labels`` [N] of ``points`` [N, D]; int64 [N].

    - "keep": noise clients stay −1, each a stratum of one.
    - "drop": they stay −1 and are no longer drawn, so the run estimates the mean over the clustered clients only.
    - "nearest": each joins the cluster with the nearest centroid (the mean of its members without noise), in Euclidean
      distance; ties go to the lower label.

    Raises ``ValueError`` if there is no cluster, unless the policy is "keep".
    """
    validation.choice("noise", policy, NOISE_POLICIES)
    labels = np.asarray(labels, dtype=np.int64)
    if len(labels) != len(points):
        raise ValueError(f"labels: {len(labels)} labels for {len(points)} points; give one label per point")
    is_noise = labels < 0
    if policy != "keep" and is_noise.all():
        raise ValueError(f"noise={policy!r}: there is no cluster, every client is noise; use noise='keep'")
    if policy != "nearest" or not is_noise.any():
        return labels
    from scipy.spatial.distance import cdist  # imported here because it takes a quarter of a second

    settled, values = labels.copy(), np.asarray(points, dtype=np.float64)
    clusters = {c: members for c, members in members_of(labels).items() if c >= 0}
    centroids = np.array([values[members].mean(axis=0) for members in clusters.values()])
    settled[is_noise] = np.array(list(clusters))[cdist(values[is_noise], centroids).argmin(axis=1)]
    return settled
