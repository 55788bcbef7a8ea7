"""The picture of learning rates: how well every method ends, at every rate."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, add_band, looks, new_figure, set_description

_ = translator(__name__)


def rates(
    accuracies: Mapping[str, Mapping[float, Sequence[float]]],
    chosen: Mapping[str, float] | None = None,
    *,
    y_title: str = _("test accuracy at the end"),
    title: str | None = None,
) -> go.Figure:
    """Draw end accuracy against the learning rate η, one curve per method.

    A method at one rate may win or lose by that rate alone. This figure shows each method at all of
    them. ``accuracies``: method → η → the accuracies in [0, 1] of one run per seed; the curve is
    their mean, in a band from minimum to maximum. ``chosen``: method → the rate at which the method
    is judged, marked by a ring; by default the rate with the highest mean, the lowest of equals.
    Raises ``ValueError`` for an empty mapping, a rate ≤ 0, an accuracy outside of [0, 1], and a
    chosen rate that was not run.
    """
    points = _points(accuracies)
    best = {name: _best(curve) for name, curve in points.items()} | dict(chosen or {})
    for name, rate in best.items():
        if rate not in points[validation.choice("chosen", name, points)]:
            raise ValueError(
                f"chosen[{name!r}]={rate:g}: was not run; the rates are "
                f"{', '.join(f'{one:g}' for one in points[name])}"
            )
    figure = new_figure(title=title, x_title=_("learning rate η"), y_title=y_title)
    figure.update_xaxes(type="log", dtick=math.log10(2), tickformat=".2~g")
    figure.update_yaxes(tickformat=".0%")
    styles = looks({name: name for name in points})
    for name, curve in points.items():
        _add(figure, name, curve, styles[name], best[name])
    _describe(figure, points, best, y_title)
    return figure


def _points(
    accuracies: Mapping[str, Mapping[float, Sequence[float]]],
) -> dict[str, dict[float, np.ndarray]]:
    """The accuracies of each method and rate as arrays, rates in increasing order."""
    if not accuracies or not all(accuracies.values()):
        raise ValueError("accuracies: must name a method, and have a rate for every method")
    points: dict[str, dict[float, np.ndarray]] = {}
    for name, curve in accuracies.items():
        points[name] = {}
        for rate, given in sorted(curve.items()):
            where = f"accuracies[{name!r}]"
            validation.real(f"{where}: rate", rate, exclusive=True)
            values = np.asarray(given, dtype=float)
            if values.ndim != 1 or not len(values) or not ((values >= 0) & (values <= 1)).all():
                raise ValueError(f"{where}[{rate:g}]={given}: must be accuracies from 0 to 1")
            points[name][rate] = values
    return points


def _best(curve: Mapping[float, np.ndarray]) -> float:
    return max(curve, key=lambda rate: (curve[rate].mean(), -rate))


def _add(
    figure: go.Figure, name: str, curve: Mapping[float, np.ndarray], style: Look, best: float
) -> None:
    x = np.array(list(curve))
    mean, low, high = (
        np.array([measure(values) for values in curve.values()])
        for measure in (np.mean, np.min, np.max)
    )
    if max(len(values) for values in curve.values()) > 1:
        spread = _("{name}, spread over seeds").format(name=name)
        add_band(figure, x, low, high, style, group=name, name=spread)
    figure.add_scatter(
        x=x,
        y=mean,
        customdata=np.stack([low, high], axis=1),
        name=name,
        legendgroup=name,
        mode="lines+markers",
        line={"color": style.colour, "dash": style.dash, "width": 2},
        marker={"color": style.colour, "symbol": style.marker, "size": 6},
        hovertemplate=_("η = %{x:.3~g}: %{y:.1%} (%{customdata[0]:.1%} to %{customdata[1]:.1%})"),
    )
    figure.add_scatter(
        x=[best],
        y=[curve[best].mean()],
        name=_("{name}, chosen rate").format(name=name),
        legendgroup=name,
        showlegend=False,
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 16,
            "color": style.colour,
            "line": {"width": 2.5},
        },
        hovertemplate=_("chosen: η = %{x:.3~g}: %{y:.1%}"),
    )


def _describe(
    figure: go.Figure,
    points: Mapping[str, Mapping[float, np.ndarray]],
    best: Mapping[str, float],
    y_title: str,
) -> None:
    rows = []
    phrases = []
    for name, curve in points.items():
        found = curve[best[name]]
        edge = best[name] in (min(curve), max(curve)) and len(curve) > 1
        phrase = _("{name} {accuracy} at η = {rate}")
        if edge:
            phrase = _("{name} {accuracy} at η = {rate} at the edge of its rates")
        accuracy = f"{found.mean():.1%}"
        phrases.append(phrase.format(name=name, accuracy=accuracy, rate=f"{best[name]:.3g}"))
        rows.append(
            [name, len(found), f"{best[name]:.3g}"]
            + [f"{value:.1%}" for value in (found.mean(), found.min(), found.max())]
        )
    text = _("Line chart of {y} against the learning rate. At the chosen rates: {phrases}.")
    set_description(
        figure,
        text.format(y=y_title, phrases=_("; ").join(phrases)),
        [_("method"), _("runs"), _("chosen η"), y_title, _("low"), _("high")],
        rows,
    )
