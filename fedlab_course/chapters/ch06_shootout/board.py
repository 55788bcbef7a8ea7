"""The board of the shoot-out: methods × axes × federations, each method at its best rate."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, rgba
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.evidence import best_rates
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import named_slider

_ = translator(__name__)

COMPETITOR = "one client an update"  # the readers write it in exercise 6.2
# Row of the board → the variants of the method, of which validation chooses one.
METHODS: Mapping[str, tuple[str, ...]] = {
    "FedAvg": ("FedAvg",),
    "FedProx": ("FedProx 0.01", "FedProx 0.1", "FedProx 1"),
    "SCAFFOLD": ("SCAFFOLD",),
    "SCAFFOLD with 1/|S|": ("SCAFFOLD cohort",),
    "FedCurv": ("FedCurv",),
    "FedSSO": ("FedSSO",),
    "TFedAvg": ("TFedAvg",),
    "FedMas": best_rates.FEDMAS,
    COMPETITOR: (COMPETITOR,),
    "FedDyn": ("FedDyn",),
    "FedAvgM": ("FedAvgM",),
}
_SHOWN = {
    "SCAFFOLD with 1/|S|": _("SCAFFOLD with 1/|S|"),
    COMPETITOR: _("one client an update"),
}
_SYMBOLS = {"FedProx": "μ", "FedDyn": "μ", "FedCurv": "λ", "FedMas": "λ"}  # of the parameter
_TITLES = {
    "FedMas explicit": _("FedMas, explicit steps"),
    "FedMas implicit": _("FedMas, implicit steps"),
    "FedMas softmax": _("FedMas, Ω of the softmax"),
    "FedMas added up": _("FedMas, Ω added up"),
}
FEDERATIONS = {
    _("one label"): "one_label",
    _("two labels"): "two_labels",
    _("Dirichlet 0.3"): "dirichlet_0.3",
}
AXES = {_("rounds"): "rounds", _("server updates"): "updates", _("bytes"): "bytes"}
_WORDS = {
    "rounds": _("after 50 rounds"),
    "updates": _("after 50 server updates"),
    "bytes": _("for the bytes of 50 rounds of FedAvg"),
}
_MEASURED = {
    "rounds": _("test accuracy, mean of the last five rounds"),
    "updates": _("test accuracy, last round with at most 50 updates"),
    "bytes": _("test accuracy, last round that is paid for"),
}


def shown(name: str) -> str:
    """A method's name in the language of the reader."""
    return _SHOWN.get(name, name)


def accuracies(federation: str, axis: str) -> dict[str, pd.Series]:
    """Method → test accuracy for each seed, the method with the highest mean first.

    A method is left out if its best rate for this axis has not been judged on test images.
    """
    found = {}
    for name, variants in METHODS.items():
        variant = best_rates.best_of(federation, variants, axis)
        values = best_rates.judged(federation, variant, axis)
        if len(values):
            found[name] = values
    return dict(sorted(found.items(), key=lambda item: -item[1].mean()))


def missing(federation: str, axis: str) -> list[str]:
    """List the methods with validation runs that :func:`accuracies` leaves out."""
    judged = accuracies(federation, axis)
    return [
        name
        for name, variants in METHODS.items()
        if name not in judged and best_rates.best_of(federation, variants, axis)
    ]


def board(
    federation: str = "one_label", axis: str = "rounds", *, competitor: bool = False
) -> go.Figure:
    """A row for each method: a small dot a seed, and a large mark for the mean; the best on top.

    The grey band reaches from the best mean to δ below it. Methods without test runs at their best
    rate have no row, and a line below the axis names them. ``competitor``: whether one client an
    update has a row.
    """
    drawn = [name for name in METHODS if competitor or name != COMPETITOR]
    rows = {name: values for name, values in accuracies(federation, axis).items() if name in drawn}
    absent = [name for name in missing(federation, axis) if name in drawn]
    split = next(text for text, value in FEDERATIONS.items() if value == federation)
    figure = new_figure(
        title=_("{clients}, {stop}").format(clients=split.capitalize(), stop=_WORDS[axis]),
        x_title=_x_title(federation, axis, absent),
        y_title="",
        height=160 + 34 * len(drawn),
        legend=False,
    )
    best = max(values.mean() for values in rows.values())
    band = rgba(GREY, 0.18)
    figure.add_vrect(
        x0=best - best_rates.MARGIN, x1=best, fillcolor=band, line_width=0, layer="below"
    )
    styles = looks({name: name for name in METHODS})
    table = []
    for name, values in rows.items():
        _add_row(figure, (name, setting(federation, name, axis)), values, styles[name])
        spread = [f"{share:.1%}" for share in (values.mean(), values.min(), values.max())]
        table.append([shown(name), *spread, len(values)])
    figure.update_xaxes(tickformat=".1~%")
    figure.update_yaxes(autorange="reversed", ticks="", type="category")
    text = _description(split, axis, table, absent)
    columns = [_("method"), _("mean"), _("lowest"), _("highest"), _("seeds")]
    set_description(figure, text, columns, table)
    return figure


def _description(
    split: str, axis: str, table: Sequence[Sequence[Any]], absent: Sequence[str]
) -> str:
    phrases = _("; ").join(f"{name} {mean}" for name, mean, *_others in table)
    text = _("Test accuracy, {clients}, {stop}, each method at its best rate: {phrases}.").format(
        clients=split, stop=_WORDS[axis], phrases=phrases
    )
    if absent:
        text += _(" No test runs: {methods}.").format(methods=_(", ").join(map(shown, absent)))
    return text


def setting(federation: str, method: str, axis: str) -> str:
    """The variant of a method with the highest validation accuracy, its parameter and its rate."""
    variant = best_rates.best_of(federation, METHODS[method], axis)
    judged = best_rates.judged_runs(federation, variant, axis).iloc[0]
    symbol = _SYMBOLS.get(method)
    parts = [_TITLES.get(variant, shown(method))]
    if symbol:
        parts.append(f"{symbol} = {judged['parameter']:g}")
    return _(", ").join([*parts, f"η = {judged['lr']:.2g}"])


def _x_title(federation: str, axis: str, absent: Sequence[str]) -> str:
    """What the axis measures; below it the methods without test runs, in lines of three, and the
    variant of FedMas.
    """
    lines = [_MEASURED[axis]]
    if absent:
        names = [shown(name) for name in absent]
        parts = [_(", ").join(names[start : start + 3]) for start in range(0, len(names), 3)]
        lines.append(
            _("no test runs at the best rate: {methods}").format(methods=_(",<br>").join(parts))
        )
    if "FedMas" not in absent:
        chosen = setting(federation, "FedMas", axis)
        lines.append(_("by validation: {setting}").format(setting=chosen))
    return "<br>".join(lines)


def _add_row(figure: go.Figure, names: tuple[str, str], values: pd.Series, style: Look) -> None:
    """Add a row. ``names``: of the row, and of the method with its setting."""
    row, chosen = shown(names[0]), names[1]
    figure.add_scatter(
        x=values,
        y=[row] * len(values),
        mode="markers",
        marker={"size": 7, "color": rgba(style.colour, 0.35), "symbol": "circle"},
        hovertemplate=_("one seed: %{x:.1%}") + f"<extra>{row}</extra>",
    )
    figure.add_scatter(
        x=[values.mean()],
        y=[row],
        mode="markers",
        name=row,
        marker={"size": 14, "color": style.colour, "symbol": style.marker},
        hovertemplate=_("mean: %{x:.1%}") + f"<extra>{chosen}</extra>",
    )


def switchable(axis: str = "rounds", *, competitor: bool = False) -> Idea:
    """:func:`board` with two switches: ``axis`` and ``federation``."""
    sliders = {
        "axis": named_slider(_("axis"), AXES, axis, _("What each method may spend as much of")),
        "federation": named_slider(
            _("clients"),
            FEDERATIONS,
            "one_label",
            _("How the labels are spread over the clients"),
        ),
    }
    return Idea(partial(board, competitor=competitor), sliders)


def ahead(pairs: Mapping[str, tuple[str, str, str, str]], *, title: str) -> go.Figure:
    """Differences of two methods, each at its best rate, a dot for each seed.

    ``pairs``: name of a row → (federation, axis, method, the method that is subtracted), methods
    as in ``METHODS``.
    """
    values = {}
    for name, (federation, axis, method, other) in pairs.items():
        rows = accuracies(federation, axis)
        values[name] = (rows[method] - rows[other]).dropna().to_numpy()
    return comparison_figures.differences(values, margin=best_rates.MARGIN, title=title)


def live_rates(names: Iterable[str], federation: str = "one_label") -> dict[str, float]:
    """The rate of each method that is best by rounds, chosen on validation samples.

    FedMas counts with its explicit step, as the class has it by default.
    """
    stored = {"FedMas": "FedMas explicit"}
    return {name: best_rates.best_rate(federation, stored.get(name, name)) for name in names}


def tiers_less_one_client() -> go.Figure:
    """TFedAvg and FedMas less one client an update, after 50 rounds, each at its best rate."""
    pairs = {}
    for method in ("TFedAvg", "FedMas"):
        for words, federation in (FEDERATIONS | {_("IID"): "iid"}).items():
            if method in accuracies(federation, "rounds"):
                name = _("{method}, {clients}").format(method=method, clients=words)
                pairs[name] = (federation, "rounds", method, COMPETITOR)
    return ahead(pairs, title=_("Tiers less one client an update, by rounds"))
