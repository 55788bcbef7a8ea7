"""The recurring picture: accuracy on validation samples against the learning rate, from the stored
runs of :mod:`fedlab_course.evidence.best_rates`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, PAPER, rgba
from fedlab_core.plots.style import Look, looks, set_description
from fedlab_course.evidence import best_rates
from fedlab_course.evidence.best_rates import Curve

_ = translator(__name__)

_REACH = 10.0  # points on the axis of differences
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_RATE_AXIS = {"dtick": None, "tickvals": _TICKS, "ticktext": [f"{one:g}" for one in _TICKS]}
_TITLES_OF_Y = {
    "rounds": _("validation accuracy, mean of the last five rounds"),
    "updates": _("validation accuracy, last round with at most 50 updates"),
    "bytes": _("validation accuracy, last round that is paid for"),
}
_NEAR = 0.75  # from here up the axis of accuracy has a tick every five points
_UPPER = (0.42, 1.0)  # the parts of the height of the two panels
_LOWER = (0.0, 0.27)


def stored(
    split: str,
    methods: Sequence[str],
    *,
    title: str,
    axis: str = "rounds",
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw :func:`fedlab_core.plots.rates` of the stored validation accuracies of ``methods``.

    Of several configurations of a method, such as FedMas's λ, the one that is chosen is drawn.
    ``names``: method → its name in the figure, where it is another.
    """
    names = names or {}
    found = {method: best_rates.chosen_curve(split, method, axis) for method in methods}
    curves = {
        names.get(method, method): {rate: runs.tolist() for rate, runs in curve.items()}
        for method, curve in found.items()
    }
    best = {
        names.get(method, method): best_rates.best_rate(split, method, axis) for method in methods
    }
    title_of_y = _TITLES_OF_Y[axis]
    figure = fl.plots.rates(curves, best, y_title=title_of_y, title=title)
    lines = title_of_y.replace(", ", ",<br>").replace("，", "，<br>")
    figure.update_yaxes(title_text=lines)
    return figure.update_xaxes(**_RATE_AXIS)


def by_rate(
    split: str,
    methods: Mapping[str, str],
    *,
    title: str,
    axis: str = "rounds",
    y_title: str = _("accuracy at the end"),
) -> go.Figure:
    """End accuracy against η, a curve a method, and below it the difference to the first method.

    ``methods``: name in the figure → name in the tables. All seeds are dots, curves are means, and
    a ring is at the best rate. The grey band is ±δ. A difference beyond ten points is drawn at the
    edge.
    """
    curves = {name: best_rates.curve(split, method, axis) for name, method in methods.items()}
    styles = looks({name: name for name in curves})
    plain = {
        name: {rate: values.tolist() for rate, values in found.items()}
        for name, found in curves.items()
    }
    figure = fl.plots.rates(plain, y_title=y_title, title=title)
    figure.data = [one for one in figure.data if one.fill is None]  # no bands
    for number, (name, found) in enumerate(curves.items()):
        _add_dots(figure, name, found, styles[name])
        _name_best(figure, name, found, styles[name], number)
    first, *others = curves
    for name in others:
        _add_difference(figure, name, curves[name], curves[first], styles[name])
    _arrange(figure, first, two=bool(others))
    _describe(figure, curves, title, y_title)
    return figure


def zoom(figure: go.Figure, low: float) -> None:
    """Draw accuracies from ``low`` up, so that the tops of the curves can be compared."""
    ticks = np.arange(low, 1.001, 0.05 if low >= _NEAR else 0.1)
    figure.update_layout(yaxis={"range": [low, 1.0], "tickvals": ticks, "tickformat": ".0%"})
    text = _("below {low}: not drawn").format(low=f"{low:.0%}")
    words = {"text": text, "font": {"color": GREY, "size": 12}, "bgcolor": PAPER}
    place = {"xref": "paper", "x": 0.99, "xanchor": "right", "yref": "y", "yanchor": "bottom"}
    figure.add_annotation(**words, **place, y=low, showarrow=False)


def _add_dots(figure: go.Figure, name: str, found: Curve, style: Look) -> None:
    pairs = [(rate, value) for rate, values in found.items() for value in values]
    figure.add_scatter(
        x=[rate for rate, _value in pairs],
        y=[value for _rate, value in pairs],
        name=_("{name}, one seed each").format(name=name),
        legendgroup=name,
        mode="markers",
        marker={"symbol": "circle", "size": 4, "color": style.colour, "opacity": 0.5},
        hovertemplate="η = %{x:.3~g}: %{y:.1%}<extra>" + _("one seed") + "</extra>",
    )


def _name_best(figure: go.Figure, name: str, found: Curve, style: Look, number: int) -> None:
    """Write the name of a method and its best rate at the ring: the first above, others below."""
    rate, height = best_rates.top(found)
    figure.add_annotation(
        x=np.log10(rate),
        y=height,
        text=_("{name}<br>best at η = {rate}").format(name=name, rate=f"{rate:.2g}"),
        font={"color": style.colour},
        arrowcolor=style.colour,
        ax=-45 * (1 + number) if number else -105,
        ay=30 + 48 * number if number else -26,
    )


def _add_difference(figure: go.Figure, name: str, found: Curve, base: Curve, style: Look) -> None:
    """Add the differences to the base at each rate: a dot for each seed, and a line of means."""
    rates = [rate for rate in found if rate in base]
    gaps = {rate: 100 * (found[rate] - base[rate]) for rate in rates}
    means = [float(np.mean(gaps[rate])) for rate in rates]
    figure.add_scatter(
        x=rates,
        y=np.clip(means, -_REACH, _REACH),
        yaxis="y2",
        name=_("{name}, difference").format(name=name),
        legendgroup=name,
        mode="lines",
        line={"color": style.colour, "dash": style.dash, "width": 2},
        customdata=means,
        hovertemplate=_("η = %{x:.3~g}: %{customdata:+.1f} points"),
    )
    values = np.concatenate([gaps[rate] for rate in rates])
    beyond = np.abs(values) > _REACH
    symbols = np.where(beyond, np.where(values > 0, "triangle-up", "triangle-down"), "circle-open")
    figure.add_scatter(
        x=np.repeat(rates, [len(gaps[rate]) for rate in rates]),
        y=np.clip(values, -_REACH, _REACH),
        yaxis="y2",
        name=_("{name}, difference, one seed each").format(name=name),
        legendgroup=name,
        mode="markers",
        marker={"symbol": symbols, "size": np.where(beyond, 9, 6), "color": style.colour},
        customdata=values,
        hovertemplate=_("η = %{x:.3~g}: %{customdata:+.1f} points")
        + "<extra>"
        + _("one seed")
        + "</extra>",
    )


def _arrange(figure: go.Figure, first: str, *, two: bool) -> None:
    """Set the axes: accuracy above, and with ``two`` panels the differences in points below."""
    figure.update_xaxes(**_RATE_AXIS, range=[np.log10(0.008), np.log10(2.5)])
    figure.update_yaxes(range=[0, 1.2], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    figure.update_layout(height=500 if two else 440, showlegend=False)
    if not two:
        return
    figure.update_layout(
        yaxis_domain=_UPPER,
        xaxis_anchor="y2",
        yaxis2={
            "domain": _LOWER,
            "title": {
                "text": _("minus {name},<br>in points").format(name=first),
                "font": {"size": 13},
            },
            "range": [-1.15 * _REACH, 1.15 * _REACH],
            "tickvals": [-10, -5, 0, 5, 10],
            "zeroline": True,
            "anchor": "x",
        },
    )
    edges = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "yref": "y2"}
    delta = 100 * best_rates.MARGIN
    figure.add_shape(
        **edges, y0=-delta, y1=delta, fillcolor=rgba(GREY, 0.2), line_width=0, layer="below"
    )
    text = _("±δ = {delta} point; ▲▼ beyond ±{reach}")
    words = {
        "text": text.format(delta=f"{delta:g}", reach=f"{_REACH:g}"),
        "font": {"color": GREY, "size": 12},
    }
    place = {"xref": "paper", "x": 0.01, "xanchor": "left", "yref": "y2", "y": -3.6}
    figure.add_annotation(**words, **place, showarrow=False)


def _describe(figure: go.Figure, curves: Mapping[str, Curve], title: str, y_title: str) -> None:
    rates = sorted({rate for found in curves.values() for rate in found})
    rows = [[f"{rate:.3g}", *(_mean(found, rate) for found in curves.values())] for rate in rates]
    best = _("{name} is best at η = {rate} with {accuracy}")
    bests = []
    for name, found in curves.items():
        rate, height = best_rates.top(found)
        bests.append(best.format(name=name, rate=f"{rate:.2g}", accuracy=f"{height:.1%}"))
    seeds = max(len(values) for found in curves.values() for values in found.values())
    text = _("{title}: {y} against the learning rate, {seeds} validation seeds. {bests}.").format(
        title=title, y=y_title, seeds=seeds, bests=_("; ").join(bests)
    )
    if len(curves) > 1:
        below = _("{text} Below, the difference to {name} in points.")
        text = below.format(text=text, name=next(iter(curves)))
    set_description(figure, text, ["η", *curves], rows)


def _mean(found: Curve, rate: float) -> str:
    return f"{found[rate].mean():.1%}" if rate in found else ""
