"""Which clients are alike: a map of their models, and the reachability plot of OPTICS."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.clustering import Clustering
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.plots.style import (
    BLACK,
    BLUE,
    BROWN,
    GREEN,
    GREY,
    PURPLE,
    VERMILLION,
    VIOLET,
    Look,
    look,
    new_figure,
    set_description,
)
from fedlab_course.chapters.ch04_who_is_asked.figures import variances

__all__ = ["cluster_map", "reachability", "variances"]

_LEGEND_ENTRIES = 12
_CAPTION_LABELS = 3
_CAPTION_CLIENTS = 3
_CAPTION_GAPS = 0.12, 0.05  # in shares of the map's width and height, as it is on a telephone
_MAIN_SHARE = 0.25
_VEIL = "rgba(255,255,255,0.6)"
_LABEL_COLOURS = (BLUE, VERMILLION, GREEN, BROWN, VIOLET, PURPLE, BLACK, "#332288", "#999933", "#882255")
_MIXED = "#8C8C8C"
_MARKERS = ("circle", "square", "diamond", "triangle-up", "star", "pentagon", "triangle-down", "hexagon2")
_NOISE = Look(GREY, "solid", "circle-open")


def cluster_map(
    points: Any, labels: Any, fed: FederatedDataset | None = None, *, title: str | None = None
) -> go.Figure:
    """Clients where two principal components of ``points`` [N, P] put them, with a marker per cluster.

    ``labels`` [N]: clusters, −1 for noise, as open circles. With the classification data of ``fed``, the colour shows
    the labels that a client holds: inside the one it holds most of, on the rim the next one; a client without a label
    of at least a quarter of its samples is grey. Hovering shows the whole mix, and clusters of three or more clients
    carry the labels of their members' mean mix (from 10 % on) where there is room. Without ``fed`` clusters have their
    own colours. The titles of the axes say which share of the variance they show: distances in the map are not
    distances in R^P.

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
    titles = [f"component {i + 1} ({share:.0%} of variance)" for i, share in enumerate(shares)]
    figure = new_figure(title=title, x_title=titles[0], y_title=titles[1], height=540)
    if mixes is None:
        _add_clusters(figure, clusters, places)
    else:
        _add_mixes(figure, clusters, places, mixes, names)
        _add_captions(figure, clusters, places, mixes, names)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    shown = f"by two principal components, which show {shares.sum():.0%} of the variance"
    text = f"Map of {len(values)} clients {shown}: {_count(clusters)}."
    rows = []
    for cluster in np.unique(clusters):
        mine = clusters == cluster
        mean = [] if mixes is None else [_mix(mixes[mine].mean(axis=0), names)]
        rows.append([_name(cluster), int(mine.sum()), *mean])
    set_description(figure, text, ["cluster", "clients", "mean label mix"][: len(rows[0])], rows)
    return figure


def reachability(found: Clustering, *, title: str | None = None) -> go.Figure:
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
    rows = []
    for cluster in np.unique(clusters):
        mine, name = np.flatnonzero(clusters == cluster), _name(cluster)
        rows.append([name, len(mine)])
        pattern = {"shape": "." if cluster < 0 else ("", "/")[cluster % 2], "solidity": 0.25}
        figure.add_bar(
            x=mine,
            y=np.where(np.isfinite(heights[mine]), heights[mine], top),
            customdata=order[mine],
            name=name,
            width=1,
            marker={"color": _look(cluster).colour, "pattern": pattern, "line": {"width": 0}},
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


def _label_mixes(fed: FederatedDataset, num_clients: int) -> np.ndarray:
    """Each client's share of each label [N, C]."""
    if fed.num_classes is None:
        raise ValueError("fed: has regression targets; a label mix needs labels")
    if fed.num_clients != num_clients:
        raise ValueError(f"fed: has {fed.num_clients} clients, points have {num_clients} rows")
    counts = fed.heterogeneity().label_counts
    return counts / counts.sum(axis=1, keepdims=True)


def _add_clusters(figure: go.Figure, clusters: np.ndarray, places: np.ndarray) -> None:
    """A colour and a marker for each cluster."""
    numbers = np.unique(clusters)
    for cluster in numbers:
        mine, style, name = np.flatnonzero(clusters == cluster), _look(cluster), _name(cluster)
        marker = {"color": style.colour, "symbol": style.marker, "size": 10, "line": {"width": 1, "color": "white"}}
        if cluster < 0:
            marker["line"] = {"width": 2}
        _add_clients(figure, mine, places, marker, name=name, text=name)
    figure.update_layout(showlegend=len(numbers) <= _LEGEND_ENTRIES)


def _add_mixes(
    figure: go.Figure, clusters: np.ndarray, places: np.ndarray, mixes: np.ndarray, names: Sequence[str]
) -> None:
    """A marker for each cluster, and inside and on the rim the colours of the labels that a client holds most of."""
    ranks = np.argsort(-mixes, axis=1, kind="stable")[:, :2]
    main = np.take_along_axis(mixes, ranks, axis=1) >= _MAIN_SHARE  # [N, largest and next]
    hues = np.array(_LABEL_COLOURS)[ranks % len(_LABEL_COLOURS)]
    inside = np.where(main[:, 0], hues[:, 0], _MIXED)
    rim = np.where(main[:, -1], hues[:, -1], inside)
    symbols = [_NOISE.marker if cluster < 0 else _MARKERS[cluster % len(_MARKERS)] for cluster in clusters]
    marker = {"color": inside, "symbol": symbols, "size": 11, "line": {"width": 2.5, "color": rim}}
    hover = ["<br>labels " + _mix(mix, names) for mix in mixes]
    text = [_name(cluster) for cluster in clusters]
    _add_clients(figure, np.arange(len(places)), places, marker, hover=hover, text=text, showlegend=False)
    entries = [(f"label {names[c]}", hues[ranks == c][0], "circle") for c in np.unique(ranks[main])]
    entries += [("many labels", _MIXED, "circle")] * bool((~main[:, 0]).any())
    entries += [("noise", _NOISE.colour, _NOISE.marker)] * bool((clusters < 0).any())
    for name, colour, symbol in entries:
        key = {"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2.5, "color": colour}}
        figure.add_scatter(x=[None], y=[None], mode="markers", name=name, marker=key, hoverinfo="skip")
    figure.update_layout(showlegend=len(entries) <= _LEGEND_ENTRIES)


def _add_clients(
    figure: go.Figure, clients: np.ndarray, places: np.ndarray, marker: dict[str, Any], hover: Any = "", **settings: Any
) -> None:
    figure.add_scatter(
        x=places[clients, 0],
        y=places[clients, 1],
        customdata=np.stack([clients.astype(str), np.broadcast_to(hover, len(clients))], axis=1),
        mode="markers",
        marker=marker,
        hovertemplate="client %{customdata[0]}%{customdata[1]}<extra>%{text}</extra>",
        **settings,
    )


def _add_captions(
    figure: go.Figure, clusters: np.ndarray, places: np.ndarray, mixes: np.ndarray, names: Sequence[str]
) -> None:
    """The labels of a cluster above or below it, unless they are many, the cluster is small or there is no room."""
    numbers, sizes = np.unique(clusters[clusters >= 0], return_counts=True)
    gaps = np.maximum(np.ptp(places, axis=0), 1e-12) * _CAPTION_GAPS
    taken: list[np.ndarray] = []
    for cluster in numbers[np.argsort(-sizes, kind="stable")][: int((sizes >= _CAPTION_CLIENTS).sum())]:
        mine = clusters == cluster
        held = [names[label] for label in np.flatnonzero(mixes[mine].mean(axis=0) >= 0.1).tolist()]
        x, y = places[mine].mean(axis=0)
        spots = {side: np.array([x, y + side * gaps[1]]) for side in (1, -1)}
        free = [side for side, spot in spots.items() if all((abs(spot - other) >= gaps).any() for other in taken)]
        if free and len(held) <= _CAPTION_LABELS:
            taken.append(spots[free[0]])
            shown = {"font": {"size": 12, "color": BLACK}, "bgcolor": _VEIL, "showarrow": False}
            figure.add_annotation(x=x, y=y, yshift=17 * free[0], text="+".join(held), **shown)


def _mix(mix: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(f"{names[label]} {mix[label]:.0%}" for label in np.flatnonzero(mix > 0).tolist())


def _look(cluster: int) -> Look:
    return _NOISE if cluster < 0 else look(cluster + 1)


def _name(cluster: int) -> str:
    return "noise" if cluster < 0 else f"cluster {cluster}"


def _count(labels: np.ndarray) -> str:
    clusters, noise = int(labels.max(initial=-1)) + 1, int((labels < 0).sum())
    return f"{clusters} cluster{'s' * (clusters != 1)} and {noise} client{'s' * (noise != 1)} in none"
