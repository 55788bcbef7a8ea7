"""Estimates of distances: never too large for their limit; and clusters as with every distance by
subtraction.
"""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fedlab_core.clustering import Clustering, dbscan, distances, k_distances, optics
from fedlab_core.clustering.distances import Distances

NUM = 90


def near_copies(rng: np.random.Generator) -> np.ndarray:
    """Eight points, each with copies moved by 1e-16 to 1e-5: products cannot tell these from the
    same point.
    """
    moves = rng.normal(size=(NUM, 30)) * 10.0 ** -rng.integers(5, 17, size=(NUM, 1))
    return rng.normal(size=(8, 30))[rng.integers(8, size=NUM)] + moves


KINDS = {
    "far from the origin": lambda rng: 1e6 + rng.normal(size=(NUM, 20)),
    "float32 updates of one model": lambda rng: (
        rng.normal(size=300) + 1e-4 * rng.normal(size=(NUM, 300))
    ).astype("f"),
    "near copies": near_copies,
    "all at one distance": lambda rng: np.eye(NUM),
    "a grid": lambda rng: rng.integers(0, 4, size=(NUM, 2)).astype(float),
    "one client far away": lambda rng: np.vstack(
        [rng.normal(size=(NUM, 20)), np.full((1, 20), 1e7)]
    ),
    "many orders of size": lambda rng: (
        rng.normal(size=(NUM, 5)) * 10.0 ** rng.integers(-12, 12, size=(NUM, 1))
    ),
    "squares underflow": lambda rng: 1e-160 * rng.normal(size=(NUM, 4)),
    "identical": lambda rng: np.ones((NUM, 3)),
}


@pytest.fixture(params=KINDS)
def points(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.setattr(distances, "BLOCK", 32)  # several blocks, the last one short
    return np.asarray(KINDS[request.param](np.random.default_rng(0)), dtype=np.float64)


def test_a_pair_within_a_radius_has_an_estimate_within_its_limit(points: np.ndarray) -> None:
    found = Distances(points)
    exact = cdist(points, points)
    for point, row in enumerate(exact):
        assert (found.estimates(point) <= found.limits(row)).all()
        assert found.exact(point, np.arange(len(points))).tolist() == row.tolist()


@pytest.mark.parametrize("min_samples", [2, 4])
def test_clusters_are_those_of_exact_distances(
    points: np.ndarray, min_samples: int, monkeypatch
) -> None:
    """Without a table every estimate is a distance by subtraction."""

    def clusterings() -> list[Clustering]:
        radii = [None, float(np.median(k_distances(points))) or 1.0]
        by_radius = [dbscan(points, eps, min_samples) for eps in radii]
        return [optics(points, min_samples), *by_radius]

    found = clusterings()
    monkeypatch.setattr(distances, "TABLE_BYTES", 0)
    for fast, slow in zip(found, clusterings(), strict=True):
        assert fast.labels.tolist() == slow.labels.tolist() and fast.eps == slow.eps
    assert found[0].ordering is not None and found[0].reachability is not None
    assert found[0].ordering.tolist() == optics(points, min_samples).ordering.tolist()
    assert found[0].reachability.tolist() == optics(points, min_samples).reachability.tolist()


def test_few_distances_are_computed_by_subtraction(monkeypatch) -> None:
    """OPTICS needs N to reach every point from the first, a few for each later improvement, and one
    neighbour each.
    """
    computed = []
    exact = Distances.exact

    def counted(self: Distances, point: int, others: np.ndarray) -> np.ndarray:
        computed.append(len(others))
        return exact(self, point, others)

    monkeypatch.setattr(Distances, "exact", counted)
    num = 600
    optics(np.random.default_rng(0).normal(size=(num, 50)))
    assert sum(computed) < num**2 / 20
