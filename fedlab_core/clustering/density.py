"""OPTICS, DBSCAN and k-means on the clients' flat parameters; clusters and their labels are scikit-learn's.

Distances are Euclidean, in float64 and formed by differences: identical clients are exactly 0 apart. The point itself
counts among ``min_samples``, so that ``min_samples=2`` asks for one neighbour. Where scikit-learn holds tables [N, N]
and asks them anew at every step, OPTICS and DBSCAN go here from row to row of :class:`Distances`: N²P/2 products, and
for 10,000 clients of P = 512 less than half a minute. For models with more parameters than that, project first
(:class:`~fedlab_core.clustering.RandomProjection`). Trees of neighbours save nothing in so many dimensions.

Every method goes through the clients from the one farthest from the mean inwards, not from client 0 on: which clients
are at the edge of a cluster, and which cluster has which number, depends on the order. So the numbering of the clients
does not matter, except where distances tie.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import cluster
from threadpoolctl import threadpool_limits

from fedlab_core import validation
from fedlab_core.clustering.distances import Distances
from fedlab_core.randomness import derived_seed

BLOCK_VALUES = 2_000_000
DECIMALS = np.finfo(np.float64).precision  # to which scikit-learn rounds reachabilities


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which cluster each of N clients is in.

    ``labels`` int64 [N]: 0, 1, …, or −1 for noise. From OPTICS also ``ordering`` int64 [N], the clients in the order of
    the reachability plot, and ``reachability`` float64 [N] by client, inf where a walk begins. ``eps`` the radius, if
    one was used.
    """

    labels: np.ndarray
    ordering: np.ndarray | None = None
    reachability: np.ndarray | None = None
    eps: float | None = None

    @property
    def num_clusters(self) -> int:
        """How many clusters, noise not counted."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def num_noise(self) -> int:
        """How many clients are in no cluster."""
        return int((self.labels < 0).sum())

    @property
    def sizes(self) -> np.ndarray:
        """Clients per cluster, int64 [num_clusters]."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.num_clusters)


def optics(points: Any, min_samples: int = 2, xi: float = 0.25, eps: float | None = None) -> Clustering:
    """OPTICS ([004] section 3.1, Ankerst et al. 1999) on ``points`` [N, D].

    A cluster lies between a fall and a rise of the reachability by a factor 1 − ``xi`` or more; nested clusters give
    way to the innermost. With ``eps``, clusters are instead those of DBSCAN at that radius, border points apart.

    Raises ``ValueError`` for fewer points than ``min_samples``, points that are not finite, and xi outside (0, 1).
    """
    values = _points(points, min_samples, eps)
    validation.real("xi", xi, below=1, exclusive=True)
    order = _outermost_first(values)
    by_client, values = np.argsort(order), values[order]
    distances = Distances(values)
    core = np.around(distances.to_kth_nearest(min_samples - 1), DECIMALS)
    ordering, reachability, predecessor = _walk(distances, core)
    if eps is None:
        with np.errstate(divide="ignore", invalid="ignore"):  # ratios of reachabilities, where clients coincide
            labels, _ = cluster.cluster_optics_xi(
                reachability=reachability, predecessor=predecessor, ordering=ordering, min_samples=min_samples, xi=xi
            )
    else:
        labels = cluster.cluster_optics_dbscan(
            reachability=reachability, core_distances=core, ordering=ordering, eps=eps
        )
    return Clustering(labels[by_client].astype(np.int64), order[ordering], reachability[by_client], eps)


def _walk(distances: Distances, core: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """OPTICS' way through the points with core distances ``core`` [N]: always to the one that is reached most easily.

    Its order int64 [N], the reachabilities float64 [N] and from which point each was reached (−1: none), int64 [N], as
    scikit-learn's ``compute_optics_graph`` has them, rounding included; ties go to the lower number.
    """
    num = len(core)
    reachability, predecessor = np.full(num, np.inf), np.full(num, -1)
    ordering, is_left = np.empty(num, dtype=np.int64), np.ones(num, dtype=bool)
    for step in range(num):
        left = np.flatnonzero(is_left)
        ordering[step] = point = left[reachability[left].argmin()]
        is_left[point] = False
        reached = np.around(np.maximum(distances.row(point), core[point]), DECIMALS)
        better = is_left & (reached < reachability)
        reachability[better], predecessor[better] = reached[better], point
    return ordering, reachability, predecessor


def dbscan(points: Any, eps: float | None = None, min_samples: int = 2) -> Clustering:
    """DBSCAN on ``points`` [N, D]; without ``eps`` (the paper [002] gives none), the :func:`knee` of the k-distances.

    Two core points within ``eps`` of one another share a cluster; a core point has ``min_samples`` points within eps,
    itself included, and k = min_samples − 1. The result carries the eps that was used.
    """
    values = _points(points, min_samples, eps)
    order = _outermost_first(values)
    distances = Distances(values[order])
    nearest = distances.to_kth_nearest(min_samples - 1)
    if eps is None:
        eps = max(knee(np.sort(nearest)), float(np.finfo(np.float64).tiny))
    return Clustering(_grow(distances, nearest <= eps, eps)[np.argsort(order)], eps=float(eps))


def _grow(distances: Distances, is_core: np.ndarray, eps: float) -> np.ndarray:
    """DBSCAN's labels, int64 [N]: a cluster grows from each core point that is in none, as far as core points reach.

    Clusters are numbered by their first core point, and a border point belongs to the first that reaches it.
    """
    labels = np.full(len(distances), -1)
    for start in np.flatnonzero(is_core).tolist():
        if labels[start] >= 0:
            continue
        labels[start] = number = labels.max() + 1
        to_visit = [start]
        while to_visit:
            found = np.flatnonzero((distances.row(to_visit.pop()) <= eps) & (labels < 0))
            labels[found] = number
            to_visit.extend(found[is_core[found]].tolist())
    return labels


def kmeans(points: Any, num_clusters: int, seed: int) -> Clustering:
    """The best of ten runs of k-means on ``points`` [N, D]; every client is in one of ``num_clusters`` clusters.

    Its seed comes from the stream "probe" of client N, one past the last, so that it is no client's own.
    """
    values = _points(points)
    validation.integer("num_clusters", num_clusters, minimum=1, maximum=len(values))
    state = derived_seed(validation.seed(seed), "probe", client=len(values)) % 2**32
    order = _outermost_first(values)
    with threadpool_limits(1):  # its threads wait for one another, and sums depend on how many there are
        labels = cluster.KMeans(num_clusters, n_init=10, random_state=state).fit(values[order]).labels_
    return Clustering(labels[np.argsort(order)].astype(np.int64))


def k_distances(points: Any, k: int = 1) -> np.ndarray:
    """The distance from each of ``points`` [N, D] to its k-th nearest other point, float64 [N], in increasing order."""
    values = _points(points)
    validation.integer("k", k, minimum=1, maximum=len(values) - 1)
    return np.sort(Distances(values).to_kth_nearest(k))


def knee(values: Any) -> float:
    """Where an increasing curve bends up: its value farthest below the chord from its first point to its last.

    ``values``: [n], in increasing order. A curve that nowhere lies below its chord has no such bend, and the answer is
    its last value.
    """
    curve = np.asarray(values, dtype=np.float64)
    if curve.ndim != 1 or len(curve) == 0 or not np.isfinite(curve).all() or (np.diff(curve) < 0).any():
        raise ValueError("values: must be finite numbers [n] in increasing order, at least one")
    below = np.linspace(curve[0], curve[-1], len(curve)) - curve
    rounding = 1e-12 * float(np.abs(curve).max())
    return float(curve[below.argmax()] if below.max() > rounding else curve[-1])


def _outermost_first(values: np.ndarray) -> np.ndarray:
    """The clients by their distance from the mean, the farthest first, int64 [N]."""
    mean, blocks = values.mean(axis=0), np.array_split(values, 1 + values.size // BLOCK_VALUES)
    return np.argsort(-np.concatenate([np.linalg.norm(rows - mean, axis=1) for rows in blocks]), kind="stable")


def _points(points: Any, min_samples: int | None = None, eps: float | None = None) -> np.ndarray:
    """``points`` as float64 [N, D], finite, at least one and as many as ``min_samples``; the rest is checked too."""
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise ValueError(f"points: must be a matrix [N, D] with one row per client, got shape {list(values.shape)}")
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise ValueError(f"points: row {bad[0]} is not finite")
    if min_samples is not None and len(values) < validation.integer("min_samples", min_samples, minimum=2):
        raise ValueError(f"points: {len(values)} clients are fewer than min_samples={min_samples}")
    if eps is not None:
        validation.real("eps", eps, exclusive=True)
    return values
