"""Curves over the rounds of training."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.compare import PRICES
from fedlab_core.language import translator
from fedlab_core.plots.colours import INK
from fedlab_core.plots.series import Histories, Series, algorithm_names, averaged, grouped
from fedlab_core.plots.style import (
    Look,
    add_band,
    known_slot,
    look,
    looks,
    new_figure,
    set_description,
    spaced_markers,
)

_ = translator(__name__)

_X_TITLES = {"rounds": _("communication round"), "updates": _("server updates")}
_PLACES = {"rounds": _("round {number}"), "updates": _("update {number}")}
_Y_TITLES = {
    "test_accuracy": _("test accuracy"),
    "test_loss": _("test loss"),
    "train_loss": _("training loss F(w)"),
    "drift": _("drift, mean ‖y<sub>k</sub> − w‖₂"),
    "lr": _("learning rate η"),
    "seconds": _("computing time (s)"),
}
RUNAWAY = 100  # times the largest first value: a curve beyond has left what one can compare
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, _("bytes")))


def convergence(
    histories: Histories,
    x: str = "rounds",
    y: str = "test_accuracy",
    *,
    illustration: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a quantity against training progress, one curve per name.

    ``histories``: name → History, or a list of them (one per seed), drawn as their mean in a band
    from minimum to maximum. ``x``: "rounds", "updates" (of the server) or "bytes" (sent up and down
    by all clients). ``y``: "test_accuracy", "test_loss", "train_loss", "drift", "lr" or "seconds".
    ``illustration``: name → (x values, y values) of curves that were not measured here, such as
    those of a paper, drawn dotted. Raises ``ValueError`` for unknown names, an empty mapping, or a
    quantity that was not measured.
    """
    validation.choice("x", x, PRICES)
    validation.choice("y", y, _Y_TITLES)
    groups = grouped(histories)
    series = [averaged(name, runs, x, y) for name, runs in groups.items()]
    sources = {name: np.asarray(curve, dtype=float) for name, curve in (illustration or {}).items()}
    ends = [curve.x.max() for curve in series] + [
        along.max() for along, _values in sources.values()
    ]
    scale, x_title, place = _x_axis(x, max(ends))
    figure = new_figure(title=title, x_title=x_title, y_title=_Y_TITLES[y])
    figure.update_yaxes(
        tickformat=".0%" if y == "test_accuracy" else None, range=_without_runaways(series)
    )
    for name, (along, values) in sources.items():
        _add_source(figure, name, along / scale, values)
    styles = looks(algorithm_names(groups))
    for curve in series:
        if curve.num_runs > 1:
            _add_spread(figure, curve, styles[curve.name], scale)
    for curve in series:
        _add_curve(figure, curve, styles[curve.name], scale, y, x_title)
    _describe(figure, series, y, place, list(sources))
    return figure


def drift(histories: Histories, x: str = "rounds", *, title: str | None = None) -> go.Figure:
    """Draw client drift, the mean of ‖y_k − w‖₂ over the cohort.

    Arguments and errors are those of :func:`convergence`.
    """
    return convergence(histories, x, "drift", title=title)


def _without_runaways(series: Sequence[Series]) -> list[float] | None:
    """The range of the vertical axis where a curve runs away, or None: a run that diverges may end
    at 10³⁰, and must not flatten the others.
    """
    values = np.concatenate([curve.y for curve in series])
    limit = RUNAWAY * max(curve.y[0] for curve in series)
    seen = values[values <= limit]
    if len(seen) == len(values) or not len(seen):
        return None
    return [0.0, 1.05 * seen.max()]


def _x_axis(x: str, largest: float) -> tuple[float, str, Callable[[float], str]]:
    """The unit of x, the title of the axis, and a function that writes "round 50" or "320 MB"."""
    if x != "bytes":
        return 1.0, _X_TITLES[x], lambda value: _PLACES[x].format(number=f"{value:.6g}")
    scale, unit = next(((size, unit) for size, unit in _UNITS if largest >= size), _UNITS[-1])
    title = _("data sent, up and down ({unit})").format(unit=unit)
    return scale, title, lambda value: f"{value / scale:.4g} {unit}"


def _add_source(figure: go.Figure, name: str, along: np.ndarray, values: np.ndarray) -> None:
    slot = known_slot(name)
    colour = INK if slot is None else look(slot).colour
    line = {"color": colour, "width": 2, "dash": "1.5px,4px"}
    figure.add_scatter(
        x=along, y=values, name=name, mode="lines", line=line, opacity=0.85, legendrank=1100
    )


def _add_spread(figure: go.Figure, series: Series, style: Look, scale: float) -> None:
    """A band from the lowest to the highest value over seeds."""
    name = _("{name}, spread over seeds").format(name=series.name)
    x = series.x / scale
    add_band(figure, x, series.low, series.high, style, group=series.name, name=name)


def _add_curve(
    figure: go.Figure, series: Series, style: Look, scale: float, y: str, x_title: str
) -> None:
    form = ".1%" if y == "test_accuracy" else ".4g"
    values = {"x": f"{x_title}: %{{x:.5~g}}", "y": f"{_Y_TITLES[y]}: %{{y:{form}}}"}
    hover = "{x}<br>{y}".format(**values)
    if series.num_runs > 1:
        hover = _("{x}<br>{y}<br>{runs} seeds: {low} to {high}").format(
            **values,
            runs=series.num_runs,
            low=f"%{{customdata[0]:{form}}}",
            high=f"%{{customdata[1]:{form}}}",
        )
    figure.add_scatter(
        x=series.x / scale,
        y=series.y,
        customdata=np.stack([series.low, series.high], axis=1),
        name=series.name,
        legendgroup=series.name,
        mode="lines+markers",
        line={"color": style.colour, "dash": style.dash, "width": 2},
        marker=spaced_markers(len(series.x), series.planned, style),
        hovertemplate=hover,
    )


def _describe(
    figure: go.Figure,
    series: Sequence[Series],
    y: str,
    place: Callable[[float], str],
    sources: list[str],
) -> None:
    """Store the final values in words and as a table."""
    quantity = _Y_TITLES[y].replace("<sub>k</sub>", "ₖ")
    form = ".1%" if y == "test_accuracy" else ".4g"
    phrases = []
    rows = []
    for curve in series:
        mean = format(curve.y[-1], form)
        low = format(curve.low[-1], form)
        high = format(curve.high[-1], form)
        end = place(curve.x[-1])
        phrase = _("{name} {mean} at {end}")
        if curve.num_runs > 1:
            phrase = _(
                "{name} {mean} at {end} ({low} to {high}, minimum to maximum over {runs} seeds)"
            )
        values = {"mean": mean, "end": end, "low": low, "high": high, "runs": curve.num_runs}
        phrases.append(phrase.format(name=curve.name, **values))
        rows.append([curve.name, curve.num_runs, end, mean, low, high])
    text = _("Line chart of {y} against {x}. Final values: {phrases}.").format(
        y=quantity, x=figure.layout.xaxis.title.text, phrases=_("; ").join(phrases)
    )
    if sources:
        dotted = _("{text} Dotted, not measured here: {names}.")
        text = dotted.format(text=text, names=_("; ").join(sources))
    columns = [_("name"), _("runs"), _("at"), quantity, _("low"), _("high")]
    set_description(figure, text, columns, rows)
