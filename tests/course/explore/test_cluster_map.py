"""The map of clients and the reachability plot: what they draw, and what they say in words."""

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_course.chapters.ch04_fedsso import figures

# Two groups of three on a plane in R^5, and one client far from both.
PLANE = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0].T
PLACES = np.array([[0, 0], [1, 0], [0, 1], [20, 0], [21, 0], [20, 1], [9, -30]], dtype=float)
POINTS = PLACES @ PLANE + 3.0
LABELS = np.array([0, 0, 0, 1, 1, 1, -1])


def clients(mixes: ArrayLike) -> fl.FederatedDataset:
    """One client per row, with that many samples of each label."""
    rows = np.asarray(mixes, dtype=int)
    pairs = [
        (np.zeros((row.sum(), 1), np.float32), np.repeat(np.arange(len(row)), row)) for row in rows
    ]
    return fl.FederatedDataset.from_clients(pairs, test=pairs[0])


MIXES = [[8, 2, 0]] * 3 + [[0, 0, 5]] * 3 + [[1, 1, 2]]


def drawn(figure: go.Figure) -> dict[int, dict]:
    """Each client's place, text on hover and look."""
    clients = {}
    for trace in figure.data:
        if trace.customdata is None:  # an entry of the legend
            continue
        n = len(trace.x)
        mark = trace.marker
        looks = [
            np.broadcast_to(value, n)
            for value in (mark.color, mark.symbol, mark.line.color, trace.text)
        ]
        for x, y, (client, hover), *look in zip(
            trace.x, trace.y, trace.customdata, *looks, strict=True
        ):
            clients[int(client)] = {
                "place": (x, y),
                "hover": hover,
                "look": tuple(map(str, look[:3])),
                "in": look[3],
            }
    return clients


PAIR = [[1, 1]]  # as many samples of either label


def places(figure: go.Figure) -> dict[int, tuple[float, float]]:
    return {client: found["place"] for client, found in drawn(figure).items()}


def legend(figure: go.Figure) -> dict[str, tuple[str, str]]:
    return {
        t.name: (t.marker.color, t.marker.symbol) for t in figure.data if t.showlegend is not False
    }


def test_a_map_of_points_in_a_plane_keeps_every_distance():
    found = places(figures.cluster_map(POINTS, LABELS, clients(PAIR * 7)))
    assert sorted(found) == list(range(7))
    assert pdist([found[k] for k in range(7)]) == pytest.approx(pdist(PLACES))


def test_the_axes_say_which_share_of_the_variance_they_show():
    spread = np.diag([3.0, 2.0, 1.0])
    figure = figures.cluster_map(
        np.concatenate([spread, -spread]), np.zeros(6, int), clients(PAIR * 6)
    )
    # 9/14, 4/14
    assert "64%" in figure.layout.xaxis.title.text and "29%" in figure.layout.yaxis.title.text


def test_a_map_depends_neither_on_the_origin_nor_on_the_order_of_the_points():
    order = np.array([6, 2, 4, 0, 1, 5, 3])
    found = places(figures.cluster_map(POINTS, LABELS, clients(PAIR * 7)))
    moved = places(figures.cluster_map(POINTS[order] + 5, LABELS[order], clients(PAIR * 7)))
    assert np.array([moved[i] for i in range(7)]) == pytest.approx(
        np.array([found[k] for k in order])
    )


def test_the_colour_shows_the_labels_a_client_holds_and_the_marker_its_cluster():
    #        cluster 0           cluster 1          noise
    mixes = [[4, 0, 0, 0, 0], [3, 1, 0, 0, 0], [1, 3, 0, 0, 0], [2, 2, 2, 2, 2], [0, 0, 9, 1, 0]]
    figure = figures.cluster_map(POINTS[:5], np.array([0, 0, 1, 1, -1]), clients(mixes))
    colour = {name: look[0] for name, look in legend(figure).items()}
    assert list(colour) == ["label 0", "label 1", "label 2", "many labels", "noise"]
    assert len(set(colour.values())) == 5
    seen = drawn(figure)
    assert [seen[k]["look"][0] for k in range(5)] == [
        colour[name] for name in ("label 0", "label 0", "label 1", "many labels", "label 2")
    ]
    assert [seen[k]["look"][2] for k in range(4)] == [
        colour[name] for name in ("label 0", "label 1", "label 0", "many labels")
    ]
    symbols = [seen[k]["look"][1] for k in range(5)]
    assert symbols[0] == symbols[1] != symbols[2] == symbols[3] and symbols[4] == "circle-open"
    assert [seen[k]["in"] for k in range(5)] == ["cluster 0"] * 2 + ["cluster 1"] * 2 + ["noise"]
    assert "circle-open" not in {
        symbol for name, (_, symbol) in legend(figure).items() if name != "noise"
    }


def test_the_label_mix_shows_on_hover():
    figure = figures.cluster_map(POINTS, LABELS, clients(MIXES))
    seen = drawn(figure)
    assert (
        seen[0]["hover"] == "<br>labels 0 80%, 1 20%"
        and seen[6]["hover"] == "<br>labels 0 25%, 1 25%, 2 50%"
    )


def test_bars_stand_in_the_order_of_the_walk_and_are_as_high_as_the_reachability():
    found = clustering.Clustering(
        np.array([0, 0, -1, 1, 1]), np.array([2, 0, 1, 4, 3]), np.array([4, 1, np.inf, 2, 6])
    )
    figure = figures.reachability(found)
    bars = {
        int(client): (int(x), y, cluster)
        for t in figure.data
        for x, y, (client, cluster) in zip(t.x, t.y, t.customdata, strict=True)
    }
    assert bars == {  # the first client, 2, has no distance
        0: (1, 4.0, "cluster 0"),
        1: (2, 1.0, "cluster 0"),
        4: (3, 6.0, "cluster 1"),
        3: (4, 2.0, "cluster 1"),
    }
    assert figure.layout.xaxis.range == (-0.5, 4.5) and figure.layout.yaxis.range[1] > 6
    assert [trace.name for trace in figure.data] == ["a cluster", "the next cluster", "noise"]
    assert len({(t.marker.color, t.marker.pattern.shape) for t in figure.data}) == 3
