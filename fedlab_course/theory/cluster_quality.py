"""How well clusters of clients agree with the labels that the clients hold."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from fedlab_core import validation


@dataclass(frozen=True, eq=False)
class LabelGroups:
    """Clients with the same set of labels: ``ids`` int64 [N], and ``labels``, the set of each group, sorted."""

    ids: np.ndarray
    labels: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> np.ndarray:
        """Clients per group, int64 [number of groups]."""
        return np.bincount(self.ids, minlength=len(self.labels))

    @property
    def num_shared(self) -> int:
        """Groups that at least two clients hold: all that a density clustering with min_samples = 2 can find."""
        return int((self.sizes >= 2).sum())


def label_groups(parts: Sequence[np.ndarray], y: Any, min_share: float = 0.0) -> LabelGroups:
    """Group clients by the set of labels that they hold.

    ``parts``: one index array per client; ``y``: labels [n]. A label counts for a client if at least ``min_share`` of
    its samples (0 … 1) have it, so that 1/(2s) leaves out what s shards carry over from a neighbouring label.
    """
    validation.real("min_share", min_share)
    labels = np.asarray(y)
    sets = [_labels_held(labels[part], min_share) for part in parts]
    groups = sorted(set(sets))
    numbers = {group: number for number, group in enumerate(groups)}
    return LabelGroups(np.array([numbers[held] for held in sets], dtype=np.int64), tuple(groups))


def _labels_held(labels: np.ndarray, min_share: float) -> tuple[int, ...]:
    present, counts = np.unique(labels, return_counts=True)
    held = present[counts >= min_share * len(labels)]
    if len(held) == 0:
        raise ValueError(f"min_share={min_share}: a client has no label with this share; lower it")
    return tuple(int(label) for label in held)


@dataclass(frozen=True)
class Quality:
    """Clusters against true groups.

    ``adjusted_rand``: 1 for the same partition, 0 in expectation for a random one (Hubert and Arabie 1985); each noise
    client counts as a cluster of one. ``purity``: of the clustered clients, the share that belongs to the largest group
    of its cluster; NaN without clusters. ``num_pure``: clusters from a single group.
    """

    adjusted_rand: float
    purity: float
    num_clusters: int
    num_pure: int
    num_noise: int


def quality(labels: np.ndarray, groups: np.ndarray) -> Quality:
    """Compare cluster ``labels`` [N] (−1 = noise) with true ``groups`` [N]."""
    labels, groups = np.asarray(labels), np.asarray(groups)
    if labels.ndim != 1 or labels.shape != groups.shape or len(labels) == 0:
        raise ValueError(f"labels {list(labels.shape)} and groups {list(groups.shape)}: must be [N] both, N ≥ 1")
    is_noise = labels < 0
    clusters = [groups[labels == c] for c in np.unique(labels[~is_noise])]
    largest = [max(Counter(members.tolist()).values()) for members in clusters]
    alone = labels.copy()
    alone[is_noise] = labels.max() + 1 + np.arange(is_noise.sum())
    return Quality(
        adjusted_rand=float(adjusted_rand_score(groups, alone)),
        purity=sum(largest) / int((~is_noise).sum()) if clusters else math.nan,
        num_clusters=len(clusters),
        num_pure=sum(count == len(members) for count, members in zip(largest, clusters, strict=True)),
        num_noise=int(is_noise.sum()),
    )
