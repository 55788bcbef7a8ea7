"""OPTICS, DBSCAN, k-means and the knee on points whose clusters are known."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn import cluster
from threadpoolctl import threadpool_info, threadpool_limits

from fedlab_core.clustering import dbscan, distances, k_distances, kmeans, knee, optics


def blocks(labels: np.ndarray) -> set[frozenset[int]]:
    """The clusters as sets of points; noise points alone."""
    found = {
        frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels[labels >= 0])
    }
    return found | {frozenset([int(k)]) for k in np.flatnonzero(labels < 0)}


def simplices(
    sizes: tuple[int, ...], seed: int = 0, jitter: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Points √2 apart within a cluster and √202 between clusters, moved by at most ``jitter``; and
    their clusters.

    As clients are: in many dimensions distances differ little, and each point has its own
    direction.
    """
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    points = np.hstack([10 * np.eye(len(sizes))[groups], np.eye(len(groups))])
    return points + jitter * (2 * rng.random(points.shape) - 1) / np.sqrt(points.shape[1]), groups


@pytest.mark.parametrize(
    "method",
    [optics, lambda p: optics(p, eps=3.0), lambda p: dbscan(p, 3.0), lambda p: kmeans(p, 3, 0)],
)
@pytest.mark.parametrize("jitter", [0.0, 0.05])
def test_separated_clusters_are_found_whatever_the_origin_and_precision(method, jitter):
    points, groups = simplices((9, 6, 2), 1, jitter)
    found = method(torch.tensor(points + 3).float())
    assert blocks(found.labels) == blocks(groups)
    assert (
        found.num_clusters == 3
        and found.num_noise == 0
        and sorted(found.sizes.tolist()) == [2, 6, 9]
    )


def test_identical_clients_are_one_cluster():
    """Ties everywhere: distances are exactly zero, none of them a rounding error that would look
    like structure.
    """
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [5, 4, 3])
    points = rng.normal(size=(3, 1000)).astype(np.float32)[groups]
    assert blocks(optics(points).labels) == blocks(dbscan(points).labels) == blocks(groups)
    for alike in (np.ones((6, 4)), np.eye(6)):
        assert optics(alike).labels.tolist() == dbscan(alike).labels.tolist() == [0] * 6


KINDS = {
    "random": lambda rng, num: rng.normal(size=(num, 3)),
    # a grid with few distances
    "tied": lambda rng, num: rng.integers(0, 4, size=(num, 2)).astype(np.float64),
    "duplicates": lambda rng, num: rng.normal(size=(1 + num // 3, 5))[
        rng.integers(0, 1 + num // 3, size=num)
    ],
}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    num=st.integers(5, 60),
    min_samples=st.integers(2, 4),
    eps=st.sampled_from([None, 0.6, 1.0, 2.0]),
    xi=st.sampled_from([0.05, 0.25, 0.5]),
)
def test_clusters_are_those_of_scikit_learn_from_the_outermost_client_inwards(
    kind, seed, num, min_samples, eps, xi
):
    points = KINDS[kind](np.random.default_rng(seed), num)
    order = np.argsort(-np.linalg.norm(points - points.mean(axis=0), axis=1), kind="stable")
    table = squareform(pdist(points[order]))
    place = np.argsort(order)
    by_radius = {"cluster_method": "dbscan", "eps": eps} if eps else {}
    with np.errstate(divide="ignore", invalid="ignore"):
        model = cluster.OPTICS(
            min_samples=min_samples, xi=xi, metric="precomputed", **by_radius
        ).fit(table)
    found = optics(points, min_samples, xi, eps)
    assert found.labels.tolist() == model.labels_[place].tolist() and found.eps == eps
    assert place[found.ordering].tolist() == model.ordering_.tolist()
    assert found.reachability.tolist() == model.reachability_[place].tolist()
    by_density = dbscan(points, eps, min_samples)
    model = cluster.DBSCAN(eps=by_density.eps, min_samples=min_samples, metric="precomputed").fit(
        table
    )
    assert by_density.labels.tolist() == model.labels_[place].tolist()


@pytest.mark.parametrize("method", [optics, dbscan, k_distances])
def test_without_the_table_memory_follows_the_number_of_clients(method, monkeypatch):
    monkeypatch.setattr(distances, "TABLE_BYTES", 0)
    assert peak_of(method, 1500) < 0.03 * 8 * 1500**2


@pytest.mark.parametrize("method", [optics, dbscan, k_distances])
def test_the_table_takes_half_of_what_float64_would(method, monkeypatch):
    monkeypatch.setattr(distances, "BLOCK", 64)
    assert 4 * 1500**2 < peak_of(method, 1500) < 1.1 * 4 * 1500**2


def peak_of(method: Callable[[np.ndarray], object], num: int) -> int:
    """The peak memory of clustering ``num`` random points, in bytes."""
    points = np.random.default_rng(0).normal(size=(num, 4))
    method(points[:50])  # modules that are loaded once
    tracemalloc.start()
    method(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_clusters_are_numbered_from_the_one_farthest_out():
    """A cluster at 10 and one at −1, whose mean is 2.3. The
    order of the clients does not matter.
    """
    line = np.array([[-1.0], [-0.9], [-1.1], [-0.8], [-1.2], [10.0], [10.1]])
    for method in (optics, lambda p: optics(p, eps=1.0), lambda p: dbscan(p, eps=1.0)):
        assert method(line).labels.tolist() == [1] * 5 + [0] * 2
    points = np.random.default_rng(0).normal(size=(30, 3))
    order = np.random.default_rng(1).permutation(30)
    for method in (optics, dbscan, lambda p: kmeans(p, 4, seed=0)):
        assert method(points[order]).labels.tolist() == method(points).labels[order].tolist()


def test_default_eps_is_the_knee_of_the_distances_to_the_nearest_neighbour():
    """Gaps 1 in two runs of ten, 30 between them, and two points far out: nearest at 1 (20 times),
    40 and 60.
    """
    line = np.concatenate([np.arange(10), 39 + np.arange(10), [88, 148]])[:, None]
    found = dbscan(line)
    assert found.eps == 1.0
    assert dbscan(line, min_samples=4).eps == knee(k_distances(line, 3)) > 1
    assert found.labels.tolist() == [0] * 10 + [1] * 10 + [-1, -1]


def test_k_distances_on_a_line():
    """Points 0, 1, 3, 7: nearest at 1, 1, 2, 4 and second nearest at 3, 2, 3, 6."""
    line = np.array([[0.0], [1.0], [3.0], [7.0]])
    assert k_distances(line, 1).tolist() == [1, 1, 2, 4]
    assert k_distances(line, 2).tolist() == [2, 3, 3, 6]


def test_the_knee_is_farthest_below_the_chord():
    """The corner of an elbow; and of x² on [0, 1] the value ¼ at x = ½, where its slope is that of
    the chord.
    """
    curve = np.concatenate([np.linspace(0, 1, 90), np.linspace(1, 10, 11)[1:]])
    assert knee(curve) == 1.0
    assert knee(5 + 3 * curve) == 8.0
    assert knee(np.linspace(0, 1, 101) ** 2) == pytest.approx(0.25)
    for straight in ([2.0, 2.0, 2.0], [0.1, 0.2, 0.3, 0.4], [0, 3, 5, 6], [4.0]):  # no bend up
        assert knee(straight) == straight[-1]


def test_kmeans_repeats_and_fills_every_cluster():
    points, groups = simplices((5, 6, 7, 8))
    runs = [kmeans(points, 4, seed) for seed in (3, 3, 4)]
    assert np.array_equal(runs[0].labels, runs[1].labels)
    assert all(blocks(run.labels) == blocks(groups) for run in runs)
    assert kmeans(points, 10, 0).num_clusters == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: optics(p[0]), r"points: must be a matrix \[N, D\]"),
        (lambda p: optics(p, xi=1.0), "xi=1.0: must be a finite number > 0 and < 1"),
        (lambda p: dbscan(np.where(p == p[2, 0], np.nan, p)), "row 2 is not finite"),
        (lambda p: kmeans(p, 7, 0), "num_clusters=7"),
        (lambda p: knee([3.0, 1.0]), "increasing order"),
    ],
)
def test_bad_values_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0).normal(size=(6, 2)))


def test_kmeans_computes_on_one_thread(monkeypatch):
    """Threads of scikit-learn and of BLAS wait for one another, and sums depend on how many there
    are.
    """
    seen = []
    fit = cluster.KMeans.fit

    def noted(self, x):
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return fit(self, x)

    monkeypatch.setattr(cluster.KMeans, "fit", noted)
    with threadpool_limits(2):
        kmeans(np.random.default_rng(0).normal(size=(20, 3)), 2, 0)
    assert set(seen) == {1}
