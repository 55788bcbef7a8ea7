"""OPTICS, DBSCAN and k-means on the clients' flat parameters, with the labels of scikit-learn.

Distances are Euclidean, in float64; identical clients have distance exactly 0. The point itself
counts among ``min_samples``. Results are those of distances by subtraction, bit for bit, but most
of these are never computed (``distances.py``). The table of estimates takes 4·N² bytes up to N =
16,384 clients; with more clients the distances are computed row by row, which is slower. For large
models project first (:func:`project`).

OPTICS of scikit-learn takes less memory, because it computes rows, and more time: 90 times ours for
3,000 clients on 2,410 parameters. Its core distances come from products that cancel: identical
clients can be 1e-7 apart.

Every method gets the clients in the order of their distance from the mean, the farthest first: the
order decides about border points and the numbers of the clusters. So the numbering of the clients
matters only where distances tie.

scikit-learn and SciPy are imported where they are used: that takes a second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from fedlab_core import validation
from fedlab_core.clients import members_of
from fedlab_core.clustering.distances import Distances
from fedlab_core.randomness import derived_seed

NOISE_POLICIES = ("keep", "drop", "nearest")
DECIMALS = np.finfo(np.float64).precision  # to which scikit-learn rounds reachabilities


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clusters of N clients.

    ``labels`` int64 [N]: 0, 1, …, or −1 for noise. OPTICS adds ``ordering`` int64 [N], the clients
    in the order of the reachability plot, and ``reachability`` float64 [N] by client, inf for the
    first. ``eps``: the radius, if used. ``num_clusters``: without noise. ``num_noise``: clients in
    no cluster. ``sizes``: int64 [num_clusters].
    """

    labels: np.ndarray
    ordering: np.ndarray | None = None
    reachability: np.ndarray | None = None
    eps: float | None = None

    @property
    def num_clusters(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    @property
    def num_noise(self) -> int:
        return int((self.labels < 0).sum())

    @property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.labels[self.labels >= 0], minlength=self.num_clusters)


def optics(
    points: ArrayLike, min_samples: int = 2, xi: float = 0.25, eps: float | None = None
) -> Clustering:
    """OPTICS ([004] section 3.1, Ankerst et al. 1999) on ``points`` [N, D].

    A cluster lies between a fall and a rise of the reachability by a factor 1 − ``xi`` or more; of
    nested clusters the innermost counts. With ``eps``, clusters are those of DBSCAN at that radius,
    except for border points.

    Raises ``ValueError`` for fewer points than ``min_samples``, points that are not finite, and xi
    outside (0, 1).
    """
    from sklearn import cluster

    values = _points(points, min_samples, eps)
    validation.real("xi", xi, below=1, exclusive=True)
    order, by_client = _outermost_first(values)
    values = values[order]
    distances = Distances(values)
    core = np.around(_to_kth_nearest(distances, min_samples - 1), DECIMALS)
    ordering, reachability, predecessor = _walk(distances, core)
    if eps is None:
        # ratios of reachabilities of identical clients
        with np.errstate(divide="ignore", invalid="ignore"):
            labels, _ = cluster.cluster_optics_xi(
                reachability=reachability,
                predecessor=predecessor,
                ordering=ordering,
                min_samples=min_samples,
                xi=xi,
            )
    else:
        labels = cluster.cluster_optics_dbscan(
            reachability=reachability, core_distances=core, ordering=ordering, eps=eps
        )
    return Clustering(
        labels[by_client].astype(np.int64), order[ordering], reachability[by_client], eps
    )


def _walk(distances: Distances, core: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Visit the points with core distances ``core`` [N], always the one with the smallest
    reachability next.

    Return order, reachabilities and predecessors (−1: none), each [N], as scikit-learn's
    ``compute_optics_graph``.
    """
    num = len(core)
    reachability = np.full(num, np.inf)
    predecessor = np.full(num, -1)
    ordering = np.empty(num, dtype=np.int64)
    is_left = np.ones(num, dtype=bool)
    # of the estimates that may lower the reachability
    limits = np.full(num, np.inf, dtype=np.float32)
    for step in range(num):
        left = np.flatnonzero(is_left)
        ordering[step] = point = left[reachability[left].argmin()]
        is_left[point] = False
        limits[point] = -np.inf
        near = np.flatnonzero(distances.estimates(point) <= limits)
        near = near[core[point] <= _before_rounding(reachability[near])]
        reached = np.around(np.maximum(distances.exact(point, near), core[point]), DECIMALS)
        is_better = reached < reachability[near]
        better = near[is_better]
        reachability[better] = reached[is_better]
        predecessor[better] = point
        limits[better] = distances.limits(_before_rounding(reachability[better]))
    return ordering, reachability, predecessor


def _before_rounding(reachability: np.ndarray) -> np.ndarray:
    """Bound the distances that :data:`DECIMALS` can round to ``reachability`` or less."""
    return reachability * (1 + 1e-12) + 10.0**-DECIMALS


def dbscan(points: ArrayLike, eps: float | None = None, min_samples: int = 2) -> Clustering:
    """DBSCAN on ``points`` [N, D]. The default ``eps`` is the :func:`knee` of the k-distances;
    [002] gives none.

    Two core points within ``eps`` of each other share a cluster. A core point has ``min_samples``
    points within eps, itself included; k = min_samples − 1. The result has the eps that was used.
    """
    values = _points(points, min_samples, eps)
    order, by_client = _outermost_first(values)
    values = values[order]
    distances = Distances(values)
    nearest = _to_kth_nearest(distances, min_samples - 1)
    if eps is None:
        eps = max(knee(np.sort(nearest)), float(np.finfo(np.float64).tiny))
    return Clustering(_grow(distances, nearest <= eps, eps)[by_client], eps=float(eps))


def _grow(distances: Distances, is_core: np.ndarray, eps: float) -> np.ndarray:
    """Grow a cluster from each core point that has none, as far as core points reach.

    Return labels int64 [N].
    """
    labels = np.full(len(is_core), -1)
    limit = distances.limits(eps)
    for start in np.flatnonzero(is_core).tolist():
        if labels[start] >= 0:
            continue
        labels[start] = number = labels.max() + 1
        to_visit = [start]
        while to_visit:
            point = to_visit.pop()
            near = np.flatnonzero((distances.estimates(point) <= limit) & (labels < 0))
            reached = near[distances.exact(point, near) <= eps]
            labels[reached] = number
            to_visit.extend(reached[is_core[reached]].tolist())
    return labels


def kmeans(points: ArrayLike, num_clusters: int, seed: int) -> Clustering:
    """The best of ten runs of k-means on ``points`` [N, D], with ``num_clusters`` clusters."""
    from sklearn import cluster

    values = _points(points)
    validation.integer("num_clusters", num_clusters, minimum=1, maximum=len(values))
    # no client has the number N
    state = derived_seed(validation.seed(seed), "probe", client=len(values)) % 2**32
    order, by_client = _outermost_first(values)
    with threadpool_limits(1):  # threads wait for one another, and sums depend on their number
        model = cluster.KMeans(num_clusters, n_init=10, random_state=state).fit(values[order])
    return Clustering(model.labels_[by_client].astype(np.int64))


def k_distances(points: ArrayLike, k: int = 1) -> np.ndarray:
    """The distance from each of ``points`` [N, D] to its k-th nearest other point.

    float64 [N], in increasing order.
    """
    values = _points(points)
    validation.integer("k", k, minimum=1, maximum=len(values) - 1)
    return np.sort(_to_kth_nearest(Distances(values), k))


def settle_noise(labels: np.ndarray, points: ArrayLike, policy: str = "keep") -> np.ndarray:
    """Apply a noise ``policy`` to ``labels`` [N] of ``points`` [N, D]; int64 [N].

    - "keep": noise clients stay −1, each a stratum of one.
    - "drop": they stay −1 and are no longer drawn, so the run estimates the mean over the clustered
      clients only.
    - "nearest": each joins the cluster with the nearest centroid (the mean of its members); ties go
      to the lower label.

    Raises ``ValueError`` if there is no cluster, unless the policy is "keep".
    """
    from scipy.spatial.distance import cdist

    validation.choice("noise", policy, NOISE_POLICIES)
    labels = np.asarray(labels, dtype=np.int64)
    is_noise = labels < 0
    if policy != "keep" and is_noise.all():
        raise ValueError(
            f"noise={policy!r}: there is no cluster, every client is noise; use noise='keep'"
        )
    if policy != "nearest" or not is_noise.any():
        return labels
    settled = labels.copy()
    values = np.asarray(points, dtype=np.float64)
    clusters = {c: members for c, members in members_of(labels).items() if c >= 0}
    centroids = np.array([values[members].mean(axis=0) for members in clusters.values()])
    nearest = cdist(values[is_noise], centroids).argmin(axis=1)
    settled[is_noise] = np.array(list(clusters))[nearest]
    return settled


def _to_kth_nearest(distances: Distances, k: int) -> np.ndarray:
    """The distance from each point to its k-th nearest other point, float64 [N]."""
    nearest = np.empty(len(distances))
    for point in range(len(distances)):
        estimates = distances.estimates(point)
        # k + 1 points, because the point itself counts
        some = np.argpartition(estimates, k)[: k + 1]
        # no other k + 1 points need to be farther away
        nearest[point] = distances.exact(point, some).max()
        if nearest[point] == 0:
            continue
        near = np.flatnonzero(estimates <= distances.limits(nearest[point]))
        if len(near) > k + 1:
            nearest[point] = np.partition(distances.exact(point, near), k)[k]
    return nearest


def knee(values: ArrayLike) -> float:
    """Find the value of an increasing curve [n] farthest below the chord between its ends.

    On a straight line, this is the last value.
    """
    curve = np.asarray(values, dtype=np.float64)
    is_list_of_numbers = curve.ndim == 1 and len(curve) > 0 and np.isfinite(curve).all()
    if not is_list_of_numbers or (np.diff(curve) < 0).any():
        raise ValueError("values: must be finite numbers [n] in increasing order, at least one")
    below = np.linspace(curve[0], curve[-1], len(curve)) - curve
    rounding = 1e-12 * float(np.abs(curve).max())
    return float(curve[below.argmax()] if below.max() > rounding else curve[-1])


def _outermost_first(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order the clients by their distance from the mean, the farthest first.

    Return the order and the place of each client in it, int64 [N].
    """
    from_mean = np.linalg.norm(values - values.mean(axis=0), axis=1)
    order = np.argsort(-from_mean, kind="stable")
    return order, np.argsort(order)


def _points(
    points: ArrayLike, min_samples: int | None = None, eps: float | None = None
) -> np.ndarray:
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise ValueError(
            "points: must be a matrix [N, D] with one row per client, got shape "
            f"{list(values.shape)}"
        )
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise ValueError(f"points: row {bad[0]} is not finite")
    if min_samples is not None:
        validation.integer("min_samples", min_samples, minimum=2)
        if len(values) < min_samples:
            raise ValueError(
                f"points: {len(values)} clients are fewer than min_samples={min_samples}"
            )
    if eps is not None:
        validation.real("eps", eps, exclusive=True)
    return values
