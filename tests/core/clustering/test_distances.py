"""OPTICS and DBSCAN row by row: scikit-learn's clusters, with and without a table of distances, in little memory."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn import cluster

from fedlab_core.clustering import dbscan, distances, k_distances, optics

KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "random": lambda rng, num: rng.normal(size=(num, 3)),
    "tied": lambda rng, num: rng.integers(0, 4, size=(num, 2)).astype(np.float64),  # a grid: few distances, many equal
    "duplicates": lambda rng, num: rng.normal(size=(1 + num // 3, 5))[rng.integers(0, 1 + num // 3, size=num)],
    "all alike": lambda rng, num: np.eye(num),
}
sets_of_points = (st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1), st.integers(5, 60), st.integers(2, 4))


def outermost_first(points: np.ndarray) -> np.ndarray:
    """In which order the clients are gone through."""
    return np.argsort(-np.linalg.norm(points - points.mean(axis=0), axis=1), kind="stable")


def fitted(model: Any, points: np.ndarray) -> tuple[Any, np.ndarray]:
    """A scikit-learn ``model`` of the whole table of distances, and the place of each client in it."""
    order = outermost_first(points)
    with np.errstate(divide="ignore", invalid="ignore"):
        model.fit(squareform(pdist(points[order])))
    return model, np.argsort(order)


def rows_as_asked(method: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """The result of ``method`` without a table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "TABLE_BYTES", -1)
        return method(*arguments, **keywords)


@settings(deadline=None, max_examples=80)
@given(*sets_of_points, st.sampled_from([None, 0.6, 1.0, 2.0]), st.sampled_from([0.05, 0.25, 0.5]))
def test_optics_is_scikit_learns_on_the_whole_table(kind, seed, num, min_samples, eps, xi):
    points = KINDS[kind](np.random.default_rng(seed), num)
    by_radius = {} if eps is None else {"cluster_method": "dbscan", "eps": eps}
    model, place = fitted(cluster.OPTICS(min_samples=min_samples, xi=xi, metric="precomputed", **by_radius), points)
    for found in (optics(points, min_samples, xi, eps), rows_as_asked(optics, points, min_samples, xi, eps)):
        assert found.labels.tolist() == model.labels_[place].tolist()
        assert place[found.ordering].tolist() == model.ordering_.tolist()
        assert found.reachability.tolist() == model.reachability_[place].tolist()


@settings(deadline=None, max_examples=80)
@given(*sets_of_points, st.sampled_from([None, 0.6, 1.0, 2.0]))
def test_dbscan_is_scikit_learns_on_the_whole_table(kind, seed, num, min_samples, eps):
    points = KINDS[kind](np.random.default_rng(seed), num)
    found, by_rows = dbscan(points, eps, min_samples), rows_as_asked(dbscan, points, eps, min_samples)
    model, place = fitted(cluster.DBSCAN(eps=found.eps, min_samples=min_samples, metric="precomputed"), points)
    assert found.labels.tolist() == by_rows.labels.tolist() == model.labels_[place].tolist()
    assert by_rows.eps == found.eps


@pytest.mark.parametrize("table_bytes", [2**29, -1])
def test_rows_are_those_of_the_table(table_bytes, monkeypatch):
    monkeypatch.setattr(distances, "TABLE_BYTES", table_bytes)
    points = np.random.default_rng(0).normal(size=(17, 300))
    points[11] = points[3]
    table = squareform(pdist(points))
    rows = distances.Distances(points)
    assert [rows.row(i).tolist() for i in range(17)] == table.tolist() and rows.row(3)[11] == 0
    assert rows.to_kth_nearest(4).tolist() == np.sort(table, axis=1)[:, 4].tolist()


@pytest.mark.parametrize("method", [optics, dbscan, k_distances])
def test_memory_is_half_a_table_or_follows_the_number_of_clients(method):
    points = np.random.default_rng(0).normal(size=(1500, 4))
    method(points[:50])  # whatever is loaded and kept for good
    table = points.shape[0] ** 2 * 8
    assert peak(lambda: method(points)) < 0.6 * table
    assert peak(lambda: rows_as_asked(method, points)) < 0.03 * table


def peak(work: Callable[[], Any]) -> int:
    """Bytes allocated at most while ``work`` runs."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
