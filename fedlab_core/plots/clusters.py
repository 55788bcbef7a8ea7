"""Which clients are alike: a map of their models, and the reachability plot of OPTICS."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREY, Look, look, new_figure, set_description

if TYPE_CHECKING:
    from fedlab_core.clustering import Clustering
    from fedlab_core.data.federated import FederatedDataset

_LEGEND_ENTRIES = 12
_CAPTION_LABELS = 3
_VEIL = "rgba(255,255,255,0.6)"
_NOISE = Look(GREY, "solid", "x-thin-open")


def cluster_map(
    points: Any, labels: Any, fed: "FederatedDataset | None" = None, *, title: str | None = None
) -> go.Figure:
    """Clients where two principal components of ``points`` [N, P] put them, with a colour and a marker per cluster.

    ``labels`` [N]: clusters, −1 for noise, as thin grey crosses. With the classification data of ``fed``, a client's
    label mix shows on hover, and each cluster carries the labels that its members hold on average (from 10 % on). The
    titles of the axes say which share of the variance they show: distances in the map are not distances in R^P.

    Raises ``ValueError`` for other shapes, points that are not finite, and a ``fed`` without labels.
    """
    values, clusters = np.asarray(points, dtype=float), np.asarray(labels)
    if values.ndim != 2 or clusters.shape != values.shape[:1] or not len(values):
        raise ValueError(f"points {list(values.shape)} and labels {list(clusters.shape)}: must be [N, P] and [N]")
    if not np.isfinite(values).all():
        raise ValueError("points: must be finite")
    mixes = None if fed is None else _label_mixes(fed, len(values))
    names = () if fed is None else fed.dataset.classes
    places, shares = _principal_components(values)
    titles = [f"principal component {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares)]
    numbers = [int(cluster) for cluster in np.unique(clusters)]
    few = len(numbers) <= _LEGEND_ENTRIES
    figure = new_figure(title=title, x_title=titles[0], y_title=titles[1], height=540, legend=few)
    rows: list[list[Any]] = []
    for cluster in numbers:
        mine = np.flatnonzero(clusters == cluster)
        hover = ["" if mixes is None else "<br>labels " + _mix(mixes[k], names) for k in mine]
        _add_cluster(figure, cluster, places[mine], mine, hover)
        rows.append([_name(cluster), len(mine)])
        if mixes is not None:
            mean = mixes[mine].mean(axis=0)
            rows[-1].append(_mix(mean, names))
            _add_caption(figure, cluster, places[mine].mean(axis=0), mean, names)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    text = (
        f"Map of {len(values)} clients by two principal components, which show {shares.sum():.0%} of the variance: "
        f"{_count(clusters)}."
    )
    set_description(figure, text, ["cluster", "clients", "mean label mix"][: len(rows[0])], rows)
    return figure


def reachability(found: "Clustering", *, title: str | None = None) -> go.Figure:
    """The reachability plot of OPTICS: one bar per client, in the order of the walk; clusters are the valleys.

    ``found``: from :func:`fedlab_core.clustering.optics`. A bar is as high as the client is far from those that were
    visited before it (the first is drawn as high as the plot). Neighbouring clusters differ in colour and pattern,
    noise is grey and dotted. Raises ``ValueError`` for a clustering without a walk, such as that of DBSCAN.
    """
    if found.ordering is None or found.reachability is None:
        raise ValueError("found: has no reachability; only clustering.optics gives one")
    order, clusters = found.ordering, found.labels[found.ordering]
    heights = found.reachability[order]
    finite = heights[np.isfinite(heights)]
    top = 1.08 * float(finite.max(initial=0.0)) or 1.0
    legend = found.num_clusters < _LEGEND_ENTRIES
    figure = new_figure(
        title=title, x_title="clients in the order of the walk", y_title="reachability distance", legend=legend
    )
    for cluster in np.unique(clusters):
        mine = np.flatnonzero(clusters == cluster)
        name = _name(int(cluster))
        pattern = {"shape": "." if cluster < 0 else ("", "/")[cluster % 2], "solidity": 0.25}
        figure.add_bar(
            x=mine,
            y=np.where(np.isfinite(heights[mine]), heights[mine], top),
            customdata=order[mine],
            name=name,
            width=1,
            marker={"color": _look(int(cluster)).colour, "pattern": pattern, "line": {"width": 0}},
            hovertemplate="client %{customdata}<br>reachability %{y:.4g}<extra>" + name + "</extra>",
        )
    figure.update_layout(bargap=0)
    figure.update_xaxes(range=[-0.5, len(order) - 0.5], showgrid=False)
    figure.update_yaxes(range=[0, top])
    inside = finite[clusters[np.isfinite(heights)] >= 0]
    text = (
        f"Reachability plot: {len(order)} clients in the order of OPTICS, {_count(found.labels)}. "
        f"Half of the clients in clusters are reached at {np.median(inside) if len(inside) else np.nan:.3g} or less, "
        f"the largest reachability is {finite.max(initial=0.0):.3g}."
    )
    rows = [[_name(int(c)), int((clusters == c).sum())] for c in np.unique(clusters)]
    set_description(figure, text, ["cluster", "clients"], rows)
    return figure


def _principal_components(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates [N, 2] on the first two components, and their shares of the variance [2].

    Through the N × N products, which are few. Of the two directions of a component, the one in which the client
    farthest out lies on the positive side.
    """
    centred = values - values.mean(axis=0)
    variances, vectors = np.linalg.eigh(centred @ centred.T)
    variances = np.maximum(variances[::-1], 0)
    columns = [np.sqrt(variance) * vector for variance, vector in zip(variances, vectors.T[::-1], strict=True)][:2]
    columns += [np.zeros(len(values))] * (2 - len(columns))
    places = np.stack([column * (np.sign(column[np.abs(column).argmax()]) or 1) for column in columns], axis=1)
    shares = np.append(variances, 0.0)[:2] / (variances.sum() or 1.0)
    return places, shares


def _label_mixes(fed: "FederatedDataset", num_clients: int) -> np.ndarray:
    """Each client's share of each label [N, C]."""
    if fed.num_classes is None:
        raise ValueError("fed: has regression targets; a label mix needs labels")
    if fed.num_clients != num_clients:
        raise ValueError(f"fed: has {fed.num_clients} clients, points have {num_clients} rows")
    counts = fed.heterogeneity().label_counts
    return counts / counts.sum(axis=1, keepdims=True)


def _add_cluster(figure: go.Figure, cluster: int, places: np.ndarray, clients: np.ndarray, hover: list[str]) -> None:
    style, name = _look(cluster), _name(cluster)
    edge = {"width": 2, "color": style.colour} if cluster < 0 else {"width": 1, "color": "white"}
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        customdata=np.stack([clients.astype(str), hover], axis=1),
        name=name,
        mode="markers",
        marker={"color": style.colour, "symbol": style.marker, "size": 10, "line": edge},
        hovertemplate="client %{customdata[0]}%{customdata[1]}<extra>" + name + "</extra>",
    )


def _add_caption(figure: go.Figure, cluster: int, place: np.ndarray, mix: np.ndarray, names: Sequence[str]) -> None:
    """The labels of a cluster above it, unless they are many."""
    held = [names[label] for label in np.flatnonzero(mix >= 0.1).tolist()]
    if cluster >= 0 and len(held) <= _CAPTION_LABELS:
        font = {"size": 12, "color": BLACK}
        figure.add_annotation(
            x=place[0], y=place[1], text="+".join(held), yshift=15, showarrow=False, font=font, bgcolor=_VEIL
        )


def _mix(mix: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(f"{names[label]} {mix[label]:.0%}" for label in np.flatnonzero(mix > 0).tolist())


def _look(cluster: int) -> Look:
    return _NOISE if cluster < 0 else look(cluster + 1)


def _name(cluster: int) -> str:
    return "noise" if cluster < 0 else f"cluster {cluster}"


def _count(labels: np.ndarray) -> str:
    clusters, noise = int(labels.max(initial=-1)) + 1, int((labels < 0).sum())
    return f"{clusters} cluster{'s' * (clusters != 1)} and {noise} client{'s' * (noise != 1)} in none"
