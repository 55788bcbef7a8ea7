"""Figures per client: accuracy, and samples of each label."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.history import ClientReport, History
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, SEQUENCE
from fedlab_core.plots.series import Histories, algorithm_names, grouped
from fedlab_core.plots.style import Look, looks, new_figure, set_description

_ = translator(__name__)

_ROW_HEIGHT = 92  # pixels
_TOTALS = {
    "clients": _("clients"),
    "size_min": _("size min"),
    "size_mean": _("size mean"),
    "size_max": _("size max"),
    "emd": _("emd"),
    "js": _("js"),
    "labels_per_client": _("labels per client"),
}


def clients(histories: Histories, *, title: str | None = None) -> go.Figure:
    """Draw the accuracy of the final model on each client's own samples, one row per name.

    A dot is a client of one seed, the box shows the quartiles; the diamond is the mean and the
    triangle the mean of the worst tenth of clients, both averaged over seeds. ``histories``: name →
    History, or a list of them (one per seed).
    """
    groups = grouped(histories)
    reports = {name: _reports(name, runs) for name, runs in groups.items()}
    accuracies = {}
    means = {}
    worst = {}
    for name, of_runs in reports.items():
        accuracies[name] = np.concatenate([report.accuracy for report in of_runs])
        means[name] = float(np.mean([report.mean for report in of_runs]))
        worst[name] = float(np.mean([report.worst_decile for report in of_runs]))
    styles = looks(algorithm_names(groups))
    height = 170 + _ROW_HEIGHT * len(groups)
    figure = new_figure(
        title=title, x_title=_("accuracy on the client's own samples"), y_title="", height=height
    )
    for name, values in accuracies.items():
        _add_row(figure, name, values, styles[name])
    _add_marks(figure, means, _("mean over clients"), "diamond")
    _add_marks(figure, worst, _("mean of the worst tenth"), "triangle-up")
    figure.update_xaxes(tickformat=".0%", tickangle=0)
    bare = {"showgrid": False, "showline": False, "ticks": "", "showticklabels": False}
    figure.update_yaxes(range=[len(groups) - 0.5, -0.75], **bare)
    rows = [
        [name, len(values), f"{means[name]:.1%}", f"{worst[name]:.1%}"]
        for name, values in accuracies.items()
    ]
    phrase = _("{name} mean {mean}, worst tenth {low}")
    phrases = [phrase.format(name=name, mean=mean, low=low) for name, _count, mean, low in rows]
    text = _("Box plots: accuracy of the final model on each client's own samples. {phrases}.")
    columns = [_("name"), _("clients"), _("mean"), _("mean of the worst tenth")]
    set_description(figure, text.format(phrases=_("; ").join(phrases)), columns, rows)
    return figure


def partition(fed: FederatedDataset, *, title: str | None = None) -> go.Figure:
    """Draw the number of samples of each label (rows) and client (columns), with bars for the
    clients' sizes.

    Raises ``ValueError`` for regression data.
    """
    measured = fed.heterogeneity()
    counts = measured.label_counts
    names = [str(column) for column in measured.frame.columns[2:-2]]
    height = 190 + max(200, min(24 * len(names), 480))
    figure = new_figure(
        title=title, x_title=_("client"), y_title=_("label"), height=height, legend=False
    )
    ids = np.arange(len(counts))
    gap = _gap_between_clients(len(ids))
    _add_counts(figure, counts, names, gap)
    hover = _("client %{x}: %{y} samples") + "<extra></extra>"
    figure.add_bar(x=ids, y=counts.sum(1), yaxis="y2", marker={"color": GREY}, hovertemplate=hover)
    figure.update_layout(
        bargap=0.15 if gap else 0,
        yaxis={"domain": [0, 0.72], "type": "category", "showgrid": False},
        yaxis2={
            "domain": [0.78, 1],
            "title": _("samples"),
            "nticks": 4,
            "rangemode": "tozero",
            "automargin": True,
        },
        xaxis={"anchor": "y", "showgrid": False, "range": [-0.5, len(counts) - 0.5]},
    )
    totals = measured.totals
    rows = [[_TOTALS.get(name, name), f"{value:.4g}"] for name, value in totals.items()]
    set_description(figure, _partition_in_words(totals), [_("quantity"), _("value")], rows)
    return figure


def _partition_in_words(totals: Mapping[str, Any]) -> str:
    return _(
        "Heat map: samples per label (rows) and client (columns), with bars for the size of each "
        "client. {clients} clients hold {least} to {most} samples and on average {labels} labels "
        "each; mean EMD {emd}, mean Jensen–Shannon distance {js}."
    ).format(
        clients=totals["clients"],
        least=totals["size_min"],
        most=totals["size_max"],
        labels=f"{totals['labels_per_client']:.1f}",
        emd=f"{totals['emd']:.2f}",
        js=f"{totals['js']:.2f}",
    )


def _gap_between_clients(num_clients: int) -> float:
    """Pixels between two columns of the heat map; none where they would hide the columns."""
    if num_clients <= 50:
        return 1.0
    return 0.4 if num_clients <= 150 else 0.0


def _add_counts(figure: go.Figure, counts: np.ndarray, names: list[str], gap: float) -> None:
    """Draw the heat map of ``counts`` [N, C]; a label that a client does not have stays white."""
    colour_bar = {
        "title": {"text": _("samples"), "side": "right"},
        "thickness": 12,
        "len": 0.72,
        "y": 0,
        "yanchor": "bottom",
    }
    figure.add_heatmap(
        z=np.where(counts > 0, counts, np.nan).T,
        x=np.arange(len(counts)),
        y=names,
        colorscale=list(SEQUENCE),
        zmin=1,
        zmax=max(2, int(counts.max())),
        xgap=gap,
        ygap=1,
        colorbar=colour_bar,
        hovertemplate=_("client %{x}<br>label %{y}<br>%{z} samples") + "<extra></extra>",
    )


def _reports(name: str, runs: Sequence[History]) -> list[ClientReport]:
    reports = []
    for run in runs:
        if run.clients is None or np.isnan(run.clients.accuracy).any():
            raise ValueError(
                f"histories[{name!r}]: accuracy per client was not measured; must be finished "
                "classification runs"
            )
        reports.append(run.clients)
    return reports


def _add_row(figure: go.Figure, name: str, values: np.ndarray, style: Look) -> None:
    figure.add_box(
        x=values,
        y=[name] * len(values),
        name=name,
        orientation="h",
        boxpoints="all",
        jitter=0.6,
        pointpos=0,
        width=0.5,
        line={"color": style.colour, "width": 1.5},
        fillcolor=style.faded(0.12),
        marker={"color": style.faded(0.45), "size": 5, "symbol": style.marker},
        hovertemplate="%{x:.1%}<extra>" + _("a client, {name}").format(name=name) + "</extra>",
        hoveron="points",
        showlegend=False,
    )
    # The name is above its row, so that long names do not make the plot narrower.
    place = {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": name,
        "yanchor": "bottom",
        "yshift": 0.25 * _ROW_HEIGHT,
    }
    figure.add_annotation(text=name, showarrow=False, font={"color": INK}, **place)


def _add_marks(figure: go.Figure, values: dict[str, float], label: str, symbol: str) -> None:
    figure.add_scatter(
        x=list(values.values()),
        y=list(values),
        name=label,
        mode="markers",
        marker={
            "symbol": symbol,
            "size": 13,
            "color": "white",
            "line": {"color": INK, "width": 2},
        },
        hovertemplate="%{x:.1%}<extra>" + label + ", %{y}</extra>",
    )
