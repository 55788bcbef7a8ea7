"""The map of clients and the reachability plot: what they draw, and what they say in words."""

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy.spatial.distance import pdist

import fedlab_core as fl
from fedlab_core import clustering

# Two groups of three on a plane in R^5, and one client far from both.
PLANE = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0].T
PLACES = np.array([[0, 0], [1, 0], [0, 1], [20, 0], [21, 0], [20, 1], [9, -30]], dtype=float)
POINTS = PLACES @ PLANE + 3.0
LABELS = np.array([0, 0, 0, 1, 1, 1, -1])


def clients(mixes: list[list[int]]) -> fl.FederatedDataset:
    """One client per row, with that many samples of each label."""
    pairs = [(np.zeros((sum(row), 1), np.float32), np.repeat(np.arange(len(row)), row)) for row in mixes]
    return fl.FederatedDataset.from_clients(pairs, test=pairs[0])


MIXES = [[8, 2, 0]] * 3 + [[0, 0, 5]] * 3 + [[1, 1, 2]]


def drawn(figure: go.Figure) -> dict[int, tuple[float, float]]:
    """Where each client is."""
    return {
        int(client): (x, y)
        for trace in figure.data
        for x, y, (client, _) in zip(trace.x, trace.y, trace.customdata, strict=True)
    }


def test_a_map_of_points_in_a_plane_keeps_every_distance():
    places = drawn(fl.plots.cluster_map(POINTS, LABELS))
    assert sorted(places) == list(range(7))
    assert pdist([places[k] for k in range(7)]) == pytest.approx(pdist(PLACES))


def test_the_axes_say_which_share_of_the_variance_they_show():
    spread = np.diag([3.0, 2.0, 1.0])
    figure = fl.plots.cluster_map(np.concatenate([spread, -spread]), np.zeros(6, int))
    assert "64%" in figure.layout.xaxis.title.text and "29%" in figure.layout.yaxis.title.text  # 9/14, 4/14


def test_a_map_does_not_depend_on_where_the_origin_is_nor_flip_when_points_are_listed_in_another_order():
    order = np.array([6, 2, 4, 0, 1, 5, 3])
    places, moved = (
        drawn(fl.plots.cluster_map(POINTS, LABELS)),
        drawn(fl.plots.cluster_map(POINTS[order] + 5, LABELS[order])),
    )
    assert np.array([moved[i] for i in range(7)]) == pytest.approx(np.array([places[k] for k in order]))


def test_every_cluster_has_its_own_colour_and_marker_and_noise_is_a_grey_cross():
    figure = fl.plots.cluster_map(np.random.default_rng(1).normal(size=(82, 3)), np.arange(82) // 2 - 1)
    looks = {trace.name: (trace.marker.color, trace.marker.symbol) for trace in figure.data}
    assert len(set(looks.values())) == len(looks) == 41
    assert looks["noise"] == ("#595959", "x-thin-open") and figure.layout.showlegend is False


def test_the_label_mix_shows_on_hover_and_above_the_clusters():
    figure = fl.plots.cluster_map(POINTS, LABELS, clients(MIXES))
    hover = {int(client): text for trace in figure.data for client, text in trace.customdata}
    assert hover[0] == "<br>labels 0 80%, 1 20%" and hover[6] == "<br>labels 0 25%, 1 25%, 2 50%"
    assert [note.text for note in figure.layout.annotations] == ["0+1", "2"]


def test_a_map_says_in_words_and_in_a_table_what_it_shows():
    figure = fl.plots.cluster_map(POINTS, LABELS, clients(MIXES))
    assert "7 clients" in fl.plots.describe(figure) and "2 clusters and 1 client in none" in fl.plots.describe(figure)
    assert figure.layout.meta["table"]["columns"] == ["cluster", "clients", "mean label mix"]
    assert figure.layout.meta["table"]["rows"][1] == ["cluster 0", 3, "0 80%, 1 20%"]


@pytest.mark.parametrize(
    ("points", "labels", "fed", "message"),
    [
        (POINTS, LABELS[:-1], None, "labels"),
        (POINTS[:, 0], LABELS, None, "points"),
        (np.full((7, 2), np.nan), LABELS, None, "finite"),
        (POINTS, LABELS, clients(MIXES[:-1]), "6 clients"),
        (POINTS, LABELS, fl.synthetic.quadratics([1.0] * 7, [0.0] * 7), "regression"),
    ],
)
def test_a_map_refuses_what_it_cannot_draw(points, labels, fed, message):
    with pytest.raises(ValueError, match=message):
        fl.plots.cluster_map(points, labels, fed)


def test_clients_that_are_all_the_same_lie_on_one_spot():
    places = drawn(fl.plots.cluster_map(np.ones((3, 4)), np.zeros(3, int)))
    assert set(places.values()) == {(0.0, 0.0)}


def test_bars_stand_in_the_order_of_the_walk_and_are_as_high_as_the_reachability():
    found = clustering.Clustering(np.array([0, 0, -1, 1, 1]), np.array([2, 0, 1, 4, 3]), np.array([4, 1, np.inf, 2, 6]))
    figure = fl.plots.reachability(found)
    bars = {int(c): (int(x), y) for t in figure.data for x, y, c in zip(t.x, t.y, t.customdata, strict=True)}
    top = figure.layout.yaxis.range[1]
    assert bars == {2: (0, top), 0: (1, 4.0), 1: (2, 1.0), 4: (3, 6.0), 3: (4, 2.0)} and top > 6
    assert [trace.name for trace in figure.data] == ["noise", "cluster 0", "cluster 1"]
    assert len({(t.marker.color, t.marker.pattern.shape) for t in figure.data}) == 3


def test_a_reachability_plot_says_in_words_and_in_a_table_what_it_shows():
    figure = fl.plots.reachability(clustering.optics(POINTS))
    assert "2 clusters" in fl.plots.describe(figure)
    assert sum(row[1] for row in figure.layout.meta["table"]["rows"]) == 7


def test_only_a_walk_has_a_reachability_plot():
    with pytest.raises(ValueError, match="optics"):
        fl.plots.reachability(clustering.dbscan(POINTS, eps=2.0))
