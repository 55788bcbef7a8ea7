"""Stored means over 40 seeds: networks under Ditto's pull, and models on two sets of samples."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GROUPS, INK, rgba
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course.evidence import tables
from fedlab_course.explore.figures import add_curve

_ = translator(__name__)

TABLE = "several"
STANDARD_ERRORS = 2.0
_NAMES = {"iid": _("IID"), "dirichlet": _("Dirichlet 0.3"), "concepts": _("four names")}
_LOOKS = {
    "iid": Look(GROUPS[0], "9px,3px", "square"),
    "dirichlet": Look(GROUPS[3], "solid", "circle"),
    "concepts": Look(GROUPS[2], "5px,2px,1px,2px", "triangle-up"),
}
_ABOVE = {"iid": 16, "dirichlet": -3, "concepts": 0}  # pixels from a curve's end to its name
# where λ = 0 and λ = ∞ are on a logarithmic axis
_PLACES = {
    "alone": 0.03,
    "Ditto λ=0.1": 0.1,
    "Ditto λ=0.3": 0.3,
    "Ditto λ=1": 1.0,
    "Ditto λ=3": 3.0,
    "Ditto λ=10": 10.0,
    "FedAvg": 33.0,
}
_TICKS = [_("0 (alone)"), "0.1", "0.3", "1", "3", "10", _("∞ (one model)")]
# stored method → its name in a figure
_METHODS = {
    "alone": _("alone"),
    "fine-tuning": _("fine-tuning"),
    "per cluster": _("per cluster"),
}
# where the name of a method is beside its marker
_SIDES = {"FedAvg": "top right", "per cluster": "bottom right", "IFCA": "top right"}
_TOGETHER = {"alone": _("alone, FedPer"), "FedPer": ""}  # two markers at one place


def means(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The mean of each method and two standard errors of it, as columns ``mean`` and ``error``."""
    groups = rows.groupby("method", sort=False)[measure]
    error = STANDARD_ERRORS * groups.std() / np.sqrt(groups.count())
    return pd.DataFrame({"mean": groups.mean(), "error": error})


def networks(*splits: str, levels: Sequence[str] = ()) -> go.Figure:
    """Accuracy on a client's own held-out samples against the pull λ of Ditto, a curve per split.

    ``splits``: "iid", "dirichlet" or "concepts". λ = 0 is a client alone, and λ = ∞ FedAvg's model.
    ``levels``: methods without a pull, each a level line for the last split.
    """
    figure = new_figure(
        title=_("A network for each client"),
        x_title=_("pull λ of Ditto"),
        y_title=_("accuracy on own held-out samples"),
        legend=False,
    )
    rows = []
    for split in splits:
        found = means(tables.matching(TABLE, {"partition": split}), "own")
        found = found.loc[list(_PLACES)]
        bars = {"type": "data", "array": found["error"], "color": _LOOKS[split].colour}
        x = list(_PLACES.values())
        add_curve(figure, x, found["mean"], _NAMES[split], _LOOKS[split], error_y=bars)
        _name_end(figure, split, x[-1], found["mean"].iloc[-1])
        best = found["mean"].idxmax()
        rows += [
            [_NAMES[split], tick, f"{mean:.1%} ± {error:.1%}"]
            for tick, mean, error in zip(_TICKS, found["mean"], found["error"], strict=True)
        ]
        rows[-1].append(_METHODS.get(best, best))
    rows += [_add_level(figure, splits[-1], method) for method in levels]
    figure.update_xaxes(
        type="log", range=[-1.7, 2.35], tickvals=list(_PLACES.values()), ticktext=_TICKS
    )
    figure.update_yaxes(tickformat=".0%", title_standoff=14)
    highest = {row[0]: row.pop() for row in rows if len(row) > 3}
    most = _("{name}: highest for {best}")
    phrases = [most.format(name=name, best=best) for name, best in highest.items()]
    phrases += [_("{name} has no λ and is a level line").format(name=method) for method in levels]
    text = _(
        "Mean accuracy on own held-out samples over 40 seeds against the pull λ, with two standard "
        "errors. {phrases}."
    ).format(phrases=_("; ").join(phrases))
    set_description(figure, text, [_("split"), "λ", _("own samples")], rows)
    return figure


def _add_level(figure: go.Figure, split: str, method: str) -> list[str]:
    """Add a dotted line at the mean of a method without a pull, with its name and a band of two
    standard errors; return its row of the table.
    """
    mean, error = means(tables.matching(TABLE, {"partition": split}), "own").loc[method]
    look = _LOOKS[split]
    x = list(_PLACES.values())
    line = {"color": look.colour, "dash": "1.5px,4px", "width": 2.5}
    figure.add_scatter(x=x, y=[mean] * len(x), name=method, mode="lines", line=line)
    band = {"fillcolor": rgba(look.colour, 0.15), "line_width": 0, "layer": "below"}
    figure.add_hrect(y0=mean - error, y1=mean + error, **band)
    words = _("{method}, {split}").format(method=method, split=_NAMES[split])
    name = {"text": words, "font": {"color": look.colour}}
    place = {"x": np.log10(x[-1]), "y": mean, "xanchor": "left", "xshift": 8}
    figure.add_annotation(showarrow=False, **place, **name)
    row = _("{split}, {method}").format(split=_NAMES[split], method=method)
    return [row, _("none"), f"{mean:.1%} ± {error:.1%}"]


def _name_end(figure: go.Figure, split: str, x: float, y: float) -> None:
    """Write the name of a split beside the end of its curve."""
    figure.add_annotation(
        x=np.log10(x),
        y=y,
        text=_NAMES[split],
        xanchor="left",
        xshift=8,
        yshift=_ABOVE[split],
        font={"color": _LOOKS[split].colour},
        showarrow=False,
    )


def two_labels() -> go.Figure:
    """Each method with two labels a client: accuracy on a client's own held-out samples against
    that on the whole test set. Bars are two standard errors over seeds.
    """
    rows = tables.matching(TABLE, {"partition": "two labels"})
    own, whole = means(rows, "own"), means(rows, "whole")
    styles = looks({str(name): str(name) for name in own.index})
    figure = new_figure(
        title=_("Two labels a client"),
        x_title=_("accuracy on the client's own held-out samples"),
        y_title=_("accuracy on the whole test set"),
        legend=False,
    )
    table = []
    for name in own.index:
        style = styles[name]
        shown = _METHODS.get(name, name)
        bar = {"type": "data", "color": style.colour, "thickness": 1.5, "width": 4}
        marker = {"color": style.colour, "symbol": style.marker, "size": 11}
        figure.add_scatter(
            x=[own["mean"][name]],
            y=[whole["mean"][name]],
            name=shown,
            text=_TOGETHER.get(name, shown),
            mode="markers+text",
            textposition=_SIDES.get(name, "top left"),
            marker=marker | {"line": {"width": 1, "color": INK}},
            error_x=bar | {"array": [own["error"][name]]},
            error_y=bar | {"array": [whole["error"][name]]},
            cliponaxis=False,
        )
        cells = (f"{one['mean'][name]:.1%} ± {one['error'][name]:.1%}" for one in (own, whole))
        table.append([shown, *cells])
    figure.update_xaxes(tickformat=".0%", range=[0.885, 1.0])
    figure.update_yaxes(tickformat=".0%", range=[0.1, 1.0], title_standoff=14)
    phrase = _("{name} {own}, {whole}")
    phrases = [phrase.format(name=name, own=one, whole=two) for name, one, two in table]
    text = _(
        "Methods by mean accuracy on the client's own samples and on the whole test set, two "
        "labels a client: {phrases}."
    ).format(phrases=_("; ").join(phrases))
    set_description(figure, text, [_("method"), _("own samples"), _("whole test set")], table)
    return figure
