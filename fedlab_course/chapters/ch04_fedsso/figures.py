"""Which clients are alike: a map of their models, and the reachability plot of OPTICS."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.clustering import Clustering
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, MANY
from fedlab_core.plots.style import new_figure, set_description

_ = translator(__name__)

_MAIN_SHARE = 0.25
_MARKERS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "star",
    "pentagon",
    "triangle-down",
    "hexagon2",
)
_NOISE_MARKER = "circle-open"
_CLUSTERS = _("{clusters} clusters and {noise} clients in none")
_ONE_CLUSTER = _("1 cluster and {noise} clients in none")
_BAR_HOVER = (
    _("client %{customdata[0]}<br>reachability %{y:.4g}") + "<extra>%{customdata[1]}</extra>"
)


def cluster_map(
    points: Any, clusters: np.ndarray, fed: FederatedDataset, *, title: str | None = None
) -> go.Figure:
    """Clients where two principal components of ``points`` [N, P] put them, with a marker per
    cluster.

    ``clusters`` [N]: −1 for noise, as open circles. Colours show the labels that a client of
    ``fed`` holds most of: inside the first, on the rim the second; grey without one of a quarter of
    its samples. Axes name their share of the variance.
    """
    counts = fed.heterogeneity().label_counts
    names = fed.dataset.classes
    mixes = counts / counts.sum(axis=1, keepdims=True)
    places, shares = _principal_components(np.asarray(points, dtype=float))
    axis = _("component {number} ({share:.0%} of variance)")
    titles = [axis.format(number=i + 1, share=share) for i, share in enumerate(shares)]
    figure = new_figure(title=title, x_title=titles[0], y_title=titles[1], height=540)
    _add_clients(figure, clusters, places, mixes, names)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    rows = []
    for cluster in np.unique(clusters):
        mine = clusters == cluster
        rows.append([_name(cluster), int(mine.sum()), _mix(mixes[mine].mean(axis=0), names)])
    text = _(
        "Map of {count} clients by two principal components, which show {share:.0%} of the "
        "variance: {found}."
    ).format(count=len(places), share=shares.sum(), found=_count(clusters))
    set_description(figure, text, [_("cluster"), _("clients"), _("mean label mix")], rows)
    return figure


def reachability(clustering: Clustering, *, title: str | None = None) -> go.Figure:
    """The reachability plot of OPTICS: one bar per client, in the order of the walk; clusters are
    the valleys.

    ``clustering``: from :func:`fedlab_core.clustering.optics`. A bar is as high as the client is
    far from those before it; the first client has none. Clusters have two colours in turn, and
    noise is grey and dotted. Raises ``ValueError`` for a clustering without a walk.
    """
    if clustering.ordering is None or clustering.reachability is None:
        raise ValueError("clustering: has no reachability; only optics gives one")
    order = clustering.ordering
    clusters = clustering.labels[order]
    distances = clustering.reachability[order]
    reached = np.isfinite(distances)
    largest = float(distances[reached].max())
    figure = new_figure(
        title=title,
        x_title=_("clients in the order of the walk"),
        y_title=_("reachability distance"),
    )
    for name, (colour, shape, chosen) in _bar_looks(clusters).items():
        positions = np.flatnonzero(chosen & reached)
        figure.add_bar(
            x=positions,
            y=distances[positions],
            customdata=[[order[k], _name(clusters[k])] for k in positions],
            name=name,
            width=1,
            marker={
                "color": colour,
                "pattern": {"shape": shape, "solidity": 0.25},
                "line": {"width": 0},
            },
            hovertemplate=_BAR_HOVER,
        )
    figure.update_layout(bargap=0)
    figure.update_xaxes(range=[-0.5, len(order) - 0.5], showgrid=False)
    figure.update_yaxes(range=[0, 1.08 * largest])
    _describe_walk(figure, clusters, distances[reached & (clusters >= 0)], largest)
    return figure


def _describe_walk(
    figure: go.Figure, clusters: np.ndarray, in_clusters: np.ndarray, largest: float
) -> None:
    """Describe a reachability plot; ``in_clusters``: the distances of the clients in clusters."""
    text = _(
        "Reachability plot: {count} clients in the order of OPTICS, {found}. Half of the clients "
        "in clusters are reached at {median:.3g} or less, the largest reachability is "
        "{largest:.3g}."
    ).format(
        count=len(clusters),
        found=_count(clusters),
        median=np.median(in_clusters) if len(in_clusters) else np.nan,
        largest=largest,
    )
    rows = [[_name(one), int((clusters == one).sum())] for one in np.unique(clusters)]
    set_description(figure, text, [_("cluster"), _("clients")], rows)


def _bar_looks(clusters: np.ndarray) -> dict[str, tuple[str, str, np.ndarray]]:
    """Name in the legend → colour, hatching and clients. Neighbouring clusters differ."""
    even = (clusters >= 0) & (clusters % 2 == 0)
    odd = (clusters >= 0) & (clusters % 2 == 1)
    looks = {
        _("a cluster"): (GROUPS[0], "", even),
        _("the next cluster"): (GROUPS[2], "/", odd),
        _("noise"): (GREY, ".", clusters < 0),
    }
    return {name: look for name, look in looks.items() if look[2].any()}


def _principal_components(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates [N, 2] on the first two components, and their shares of the variance [2].

    Of the two directions of a component, the one in which the client farthest out lies on the
    positive side.
    """
    centred = values - values.mean(axis=0)
    variances, directions = np.linalg.eigh(centred @ centred.T)  # N × N, which is small; ascending
    largest = [-1, -2]
    places = np.sqrt(variances[largest]) * directions[:, largest]
    places *= np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    return places, variances[largest] / variances.sum()


def _add_clients(
    figure: go.Figure,
    clusters: np.ndarray,
    places: np.ndarray,
    mixes: np.ndarray,
    names: Sequence[str],
) -> None:
    """A marker for each cluster, and inside and on the rim the colours of the labels that a client
    holds most of.
    """
    ranks = np.argsort(-mixes, axis=1, kind="stable")[:, :2]
    main = np.take_along_axis(mixes, ranks, axis=1) >= _MAIN_SHARE  # [N, largest and next]
    colours = np.resize(GROUPS, len(names))  # from the start again after the last
    hues = colours[ranks]
    inside = np.where(main[:, 0], hues[:, 0], MANY)
    rim = np.where(main[:, -1], hues[:, -1], inside)
    symbols = [
        _NOISE_MARKER if cluster < 0 else _MARKERS[cluster % len(_MARKERS)] for cluster in clusters
    ]
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        customdata=[
            [str(client), _("<br>labels {mix}").format(mix=_mix(mix, names))]
            for client, mix in enumerate(mixes)
        ],
        text=[_name(cluster) for cluster in clusters],
        mode="markers",
        marker=_marker(inside, symbols, rim),
        hovertemplate=_("client %{customdata[0]}%{customdata[1]}") + "<extra>%{text}</extra>",
        showlegend=False,
    )
    for label in np.unique(ranks[main]):
        name = _("label {name}").format(name=names[label])
        _add_to_legend(figure, name, colours[label], "circle")
    if not main[:, 0].all():
        _add_to_legend(figure, _("many labels"), MANY, "circle")
    if (clusters < 0).any():
        _add_to_legend(figure, _("noise"), GREY, _NOISE_MARKER)


def _add_to_legend(figure: go.Figure, name: str, colour: str, symbol: str) -> None:
    """Add an entry to the legend, without a point in the chart."""
    marker = _marker(colour, symbol, colour)
    figure.add_scatter(
        x=[None], y=[None], mode="markers", name=name, marker=marker, hoverinfo="skip"
    )


def _marker(
    inside: str | np.ndarray, symbol: str | list[str], rim: str | np.ndarray
) -> dict[str, Any]:
    """The markers of clients: the colours inside and on the rim, one for all or one for each."""
    return {
        "color": inside,
        "symbol": symbol,
        "size": 11,
        "line": {"width": 2.5, "color": rim},
    }


def _mix(mix: np.ndarray, names: Sequence[str]) -> str:
    return _(", ").join(
        f"{names[label]} {mix[label]:.0%}" for label in np.flatnonzero(mix > 0).tolist()
    )


def _name(cluster: int) -> str:
    return _("noise") if cluster < 0 else _("cluster {number}").format(number=cluster)


def _count(labels: np.ndarray) -> str:
    clusters = int(labels.max(initial=-1)) + 1
    noise = int((labels < 0).sum())
    if clusters == 1:
        words = _("1 cluster and 1 client in none") if noise == 1 else _ONE_CLUSTER
    else:
        words = _("{clusters} clusters and 1 client in none") if noise == 1 else _CLUSTERS
    return words.format(clusters=clusters, noise=noise)
