"""What is it in tiers that helps: each method at its best learning rate, and tiers taken apart."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.compare import t_interval
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import best_rates, rate_figures, tables

RATED = ("FedAvg", "TFedAvg", "one client an update")
_SPLIT = "one_label"
_AXES = {"rounds": "after 50 rounds", "updates": "after 50 updates", "bytes": "after 120 MB"}
_RANDOM = "FedAvg: random clients"
_UNLIKE = "two unlike clients"
_ALIKE = "two like clients"
_KINDS = {
    _RANDOM: (INK, "circle"),
    _UNLIKE: (GROUPS[0], "square"),
    _ALIKE: (GROUPS[2], "diamond"),
}
YOURS = "yours, half a round apart"


class StoredRow(NamedTuple):
    """A stored row of the figure: its ``kind``, its ``table`` and the values of its columns."""

    kind: str
    table: str
    where: Mapping[str, Any]


_TIERS = {"algorithm": "fedmastruetiers"}
STEPS = {  # rows, each with one property more than the row before → the words of the difference
    "FedAvg, 20 clients": "",
    "FedAvg, 2 clients": "more updates",
    "pairs, new order": "each label in every round",
    "tiers by label, new order": "likeness",
    "tiers by label": "fixed order",
}
ROWS = {
    "FedAvg, 20 clients": StoredRow(_RANDOM, "tiers_order", {"algorithm": "fedavg"}),
    "FedAvg, 2 clients": StoredRow(_RANDOM, "small_updates", {}),
    "pairs, new order": StoredRow(_UNLIKE, "pairs_order", {"order": "shuffled"}),
    "tiers by label, new order": StoredRow(
        _ALIKE, "tiers_order", _TIERS | {"tier_order": "shuffled"}
    ),
    "tiers by label": StoredRow(_ALIKE, "tiers_order", _TIERS | {"tier_order": "fixed"}),
    "pairs, half a round apart": StoredRow(_UNLIKE, "tiers_order", {"algorithm": "rotatedpairs"}),
    YOURS: StoredRow(_UNLIKE, "", {}),
    "pairs, turns together": StoredRow(_UNLIKE, "pairs_order", {"order": "together"}),
}
_SHARED = range(10)  # the seeds that all stored rows have


def over_rates(methods: tuple[str, ...] = RATED) -> go.Figure:
    """End accuracy on validation samples against η, for ``methods`` that need no further choice."""
    return rate_figures.stored(
        _SPLIT, methods, title="One label a client, 50 rounds, tiers by DBSCAN"
    )


def rated() -> pd.DataFrame:
    """A row for each method at its best rate, on seeds and test images that chose nothing.

    Each accuracy is at the rate that is best for its own column.
    """
    rows = []
    for method in RATED:
        runs = best_rates.judged_runs(_SPLIT, method)
        cells = {title: _cell(method, axis) for axis, title in _AXES.items()}
        work = {
            "updates in 50 rounds": f"{runs.server_updates.mean():.0f}",
            "MB in 50 rounds": f"{runs.bytes.mean() / 1e6:.0f}",
        }
        tiers = ", tiers by DBSCAN" if method == "TFedAvg" else ""
        rows.append({"method": method + tiers, **cells, **work})
    return pd.DataFrame(rows).set_index("method")


def _cell(method: str, axis: str) -> str:
    """The mean and the standard deviation over seeds, and the rate, with a note at an edge."""
    values = best_rates.judged(_SPLIT, method, axis)
    rates = best_rates.curve(_SPLIT, method, axis)
    best = best_rates.best_rate(_SPLIT, method, axis)
    edge = ", edge of the grid" if best in (min(rates), max(rates)) else ""
    return f"{values.mean():.1%} ± {values.std():.1%} (η = {best:.2g}{edge})"


def penalty() -> pd.DataFrame:
    """FedMas less TFedAvg in points, with 95 % intervals: a row for each split.

    Each is at its best rate for the column, and FedMas has the variant that validation prefers.
    """
    rows = {}
    for words, split in best_rates.SPLITS.items():
        cells = {}
        for axis, title in _AXES.items():
            variant = best_rates.best_of(split, best_rates.FEDMAS, axis)
            found = t_interval(100 * best_rates.ahead(split, variant, "TFedAvg", axis))
            mean, low, high = (_signed(end) for end in (found.mean, found.low, found.high))
            cells[title] = f"{mean} [{low}, {high}], {variant.removeprefix('FedMas ')}"
        rows[words] = cells
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("FedMas less TFedAvg, points")


def _signed(points: float) -> str:
    """The points with one decimal and a sign; 0.0 has none."""
    rounded = round(points, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def steps() -> pd.DataFrame:
    """The differences of ``STEPS`` in points, and their sum, for two measures at two rates."""
    measures = {"mean accuracy": "mean_accuracy", "end accuracy": "end_accuracy"}
    points: dict[str, dict[str, float]] = {}
    for title, measure in measures.items():
        for lr in (0.01, 0.05):
            means = pd.Series({name: _values(name, measure, lr).mean() for name in STEPS})
            differences = 100 * means.diff().iloc[1:].rename(STEPS)
            points[f"{title}, η = {lr:g}"] = {**differences, "in all": differences.sum()}
    return pd.DataFrame(points).map("{:+.1f}".format).rename_axis("points, ten seeds")


def _values(name: str, measure: str = "mean_accuracy", lr: float = 0.01) -> pd.Series:
    """A measure of a stored row, indexed by the seeds that all rows have."""
    row = ROWS[name]
    runs = tables.matching(row.table, {**row.where, "lr": lr})
    return runs.set_index("seed")[measure].loc[list(_SHARED)]


def apart(yours: Mapping[int, float]) -> go.Figure:
    """Mean accuracy over 30 rounds from FedAvg to tiers, one property after another.

    The differences of ``STEPS`` add up. Below them are rows that place the same turns otherwise.

    ``yours``: seed → mean accuracy of the reader's pairs, at least two. A faint dot is a seed, a
    bar the 95 % interval of the mean.
    """
    figure = new_figure(
        title="From FedAvg to tiers in four steps, η = 0.01 for all",
        x_title="mean accuracy over 30 rounds, 72 MB each",
        y_title="",
        height=640,
    )
    values = {name: _values(name) for name in ROWS if name != YOURS}
    values[YOURS] = pd.Series(yours)
    rows = []
    shown = set()
    for place, (name, row) in enumerate(ROWS.items()):
        _add_row(figure, place, name, values[name], row.kind, row.kind not in shown)
        shown.add(row.kind)
        found = t_interval(values[name])
        numbers = (f"{value:.1%}" for value in (found.mean, found.low, found.high))
        rows.append([name, row.kind, *numbers, found.runs])
    sentences = [_add_difference(figure, values, *ends) for ends in pairwise(STEPS)]
    _add_line(figure)
    places = list(range(len(ROWS)))
    figure.update_yaxes(tickvals=places, ticktext=list(ROWS), range=[len(ROWS) - 0.5, -0.6])
    figure.update_xaxes(tickformat=".0%")
    text = "Dot chart of mean accuracy over 30 rounds, with 95 % intervals, and differences. "
    columns = ["cohorts", "kind", "mean", "low", "high", "seeds"]
    set_description(figure, text + "; ".join(sentences) + ".", columns, rows)
    return figure


def _add_line(figure: go.Figure) -> None:
    """Separate the steps from the rows below them."""
    level = len(STEPS) - 0.4
    figure.add_hline(y=level, line={"color": GREY, "width": 1})
    note: dict[str, Any] = {"showarrow": False, "xanchor": "left", "yanchor": "top"}
    text = "the same updates, the turns of a label placed otherwise"
    figure.add_annotation(x=0, xref="paper", y=level, text=text, font={"color": GREY}, **note)


def _add_row(
    figure: go.Figure, place: int, name: str, values: pd.Series, kind: str, in_legend: bool
) -> None:
    """Add faint dots of the seeds, and above them the mean with its interval."""
    colour, symbol = _KINDS[kind]
    figure.add_scatter(
        x=values,
        y=[place + 0.2] * len(values),
        mode="markers",
        showlegend=False,
        marker={"color": colour, "size": 5, "opacity": 0.4},
        hovertemplate=f"%{{x:.1%}}<extra>one seed, {name}</extra>",
    )
    found = t_interval(values)
    mine = name == YOURS
    figure.add_scatter(
        x=[found.mean],
        y=[place],
        name=kind,
        showlegend=in_legend,
        mode="markers",
        error_x={"array": [found.half_width], "color": colour, "thickness": 2.5, "width": 7},
        marker={
            "symbol": f"{symbol}-open" if mine else symbol,
            "size": 13,
            "color": colour,
            "line": {"width": 2.5 if mine else 0},
        },
        hovertemplate=f"{found.mean:.1%}<br>{found.low:.1%} to {found.high:.1%}"
        f"<extra>{name}</extra>",
    )


def _add_difference(
    figure: go.Figure, values: Mapping[str, pd.Series], first: str, second: str
) -> str:
    """Add an arrow from the mean of one row to that of another, with its words; return a phrase."""
    places = [list(ROWS).index(name) for name in (first, second)]
    level = sum(places) / 2
    paired = 100 * (values[second] - values[first]).dropna()
    x = [values[name].mean() for name in (first, second)]
    for end, place in zip(x, places, strict=True):
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_shape(type="line", x0=end, x1=end, y0=place, y1=level, line=line)
    figure.add_annotation(
        x=x[1],
        y=level,
        ax=x[0],
        ay=level,
        axref="x",
        ayref="y",
        text="",
        arrowhead=2,
        arrowwidth=2,
        arrowcolor=GREY,
    )
    number = f"{paired.mean():+.0f}".replace("-", "−")
    words = f"{STEPS[second]}: {number} points"
    note: dict[str, Any] = {"showarrow": False, "xanchor": "right", "xshift": -8}
    figure.add_annotation(x=min(x), y=level, text=f"<b>{words}</b>", **note)
    return f"{words}, from {first} to {second}"
