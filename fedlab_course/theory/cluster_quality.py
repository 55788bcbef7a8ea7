"""How well clusters of clients agree with the labels that the clients hold."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix


def label_groups(parts: Sequence[np.ndarray], y: Any, min_share: float = 0.0) -> np.ndarray:
    """Group clients by the set of labels that they hold, int64 [N]; the groups go by their sorted
    sets.

    ``parts``: one index array per client; ``y``: labels [n]. A label counts for a client if at
    least ``min_share`` of its samples (0 … 1) have it, so that 1/(2s) leaves out what s shards
    carry over from a neighbouring label.
    """
    sets = []
    for part in parts:
        present, counts = np.unique(np.asarray(y)[part], return_counts=True)
        sets.append(tuple(present[counts >= min_share * len(part)].tolist()))
    groups = sorted(set(sets))
    return np.array([groups.index(held) for held in sets], dtype=np.int64)


class Quality(NamedTuple):
    """Clusters against true groups.

    ``adjusted_rand``: 1 for the same partition, 0 in expectation for a random one (Hubert and
    Arabie 1985); each noise client counts as a cluster of one. ``purity``: of the clustered
    clients, the share that belongs to the largest group of its cluster; NaN without clusters.
    ``num_pure``: clusters from a single group.
    """

    adjusted_rand: float
    purity: float
    num_clusters: int
    num_pure: int
    num_noise: int


def quality(labels: np.ndarray, groups: np.ndarray) -> Quality:
    """Compare cluster ``labels`` [N] (−1 = noise) with true ``groups`` [N]."""
    labels = np.asarray(labels)
    groups = np.asarray(groups)
    noise = labels < 0
    table = contingency_matrix(groups[~noise], labels[~noise])
    largest = table.max(axis=0, initial=0)
    sizes = table.sum(axis=0)
    alone = labels.copy()
    alone[noise] = labels.max() + 1 + np.arange(noise.sum())
    return Quality(
        adjusted_rand=float(adjusted_rand_score(groups, alone)),
        purity=float(largest.sum() / sizes.sum()) if len(sizes) else math.nan,
        num_clusters=len(sizes),
        num_pure=int((largest == sizes).sum()),
        num_noise=int(noise.sum()),
    )
