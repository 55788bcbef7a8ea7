"""Figures that compare algorithms: by learning rate, seed by seed, and run by run.

Names stand at the ends of their curves.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.compare import Interval, t_interval
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, PAPER, rgba
from fedlab_core.plots.style import Look, looks, new_figure, set_description

_ = translator(__name__)

_LABEL = 18  # pixels between two names
_HEIGHT = 300  # pixels of a plot without its frame
LEADER = 20  # pixels from the end of a curve to its name, where a line leads there


def name_ends(
    figure: go.Figure,
    ends: Mapping[str, tuple[float, float]],
    colours: Mapping[str, str],
    span: float,
    *,
    height: int = _HEIGHT,
    leader: int = 0,
) -> None:
    """Write the name of each curve to the right of its end (x, y), as far apart as text needs.

    ``span``: the height of the plot in units of y; ``height``: in pixels. ``leader``: pixels of a
    thin line from each end to its name, 0 for none. On a logarithmic axis x is the exponent.
    """
    scale = height / (span or 1.0)
    place = np.inf
    for name in sorted(ends, key=lambda one: -ends[one][1]):
        x, y = ends[name]
        place = min(y * scale, place - _LABEL)
        lift = place - y * scale
        note: dict[str, Any] = {"showarrow": False, "xshift": 8, "yshift": lift}
        if leader:
            note = {"ax": leader, "ay": -lift, "arrowhead": 0, "arrowwidth": 1}
            note["arrowcolor"] = colours[name]
        figure.add_annotation(
            x=x, y=y, text=name, font={"color": colours[name]}, xanchor="left", **note
        )
    figure.update_layout(margin_r=20 + leader + 8 * max(map(width_of, ends)))


def width_of(name: str) -> int:
    """How wide a name is: a Chinese character takes two columns, all others one."""
    return sum(2 if unicodedata.east_asian_width(one) in "FW" else 1 for one in name)


def add_level(
    figure: go.Figure, x: tuple[float, float], y: float, name: str, line: Mapping[str, Any]
) -> None:
    """Add a level ``line`` at ``y`` that ends where the curves end, so that it crosses no name."""
    figure.add_scatter(
        x=list(x), y=[y, y], name=name, mode="lines", line=dict(line), hoverinfo="skip"
    )


def over_rates(
    lines: Mapping[str, pd.Series], *, title: str, old: float | None = None, old_name: str = ""
) -> go.Figure:
    """:func:`fedlab_core.plots.rates` of one run a rate, with names at the ends of the curves.

    ``lines``: name → accuracies, indexed by rates. ``old``: a rate to mark by a vertical line,
    called ``old_name``.
    """
    accuracies = {
        name: {rate: [value] for rate, value in line.items()} for name, line in lines.items()
    }
    figure = fl.plots.rates(accuracies, y_title=_("end accuracy"), title=title)
    if old is not None:
        figure.add_vline(x=old, line={"color": GREY, "width": 2, "dash": "dot"})
        note: dict[str, Any] = {"text": old_name, "font": {"color": GREY}, "showarrow": False}
        note |= {"yref": "paper", "xanchor": "left", "xshift": 8}
        figure.add_annotation(x=np.log10(old), y=0.5, **note)
    ends = {name: (np.log10(line.index[-1]), float(line.iloc[-1])) for name, line in lines.items()}
    values = np.concatenate([line.to_numpy() for line in lines.values()])
    colours = {name: style.colour for name, style in looks({name: name for name in lines}).items()}
    name_ends(figure, ends, colours, float(np.ptp(values)))
    figure.update_layout(showlegend=False)
    rates = sorted({rate for line in lines.values() for rate in line.index})
    return figure.update_xaxes(dtick=None, tickvals=rates, ticktext=[f"{rate:g}" for rate in rates])


def less(
    right: tuple[str, fl.History],
    others: Mapping[str, fl.History],
    *,
    title: str,
    given: Mapping[str, Look] | None = None,
) -> go.Figure:
    """Accuracy of ``others`` less that of the run ``right``, in points, round by round.

    ``right``: its name, and its history, which is the line at zero. Where two runs coincide, their
    difference lies on that line. ``given``: looks of some runs, in place of those of their names.
    """
    name_of_right, base = right
    figure = new_figure(
        title=title,
        x_title=_("communication round"),
        y_title=_("points of accuracy"),
        legend=False,
    )
    styles = looks({name: name for name in [name_of_right, *others]}, given)
    colours = {name: style.colour for name, style in styles.items()} | {name_of_right: INK}
    rounds = base.frame["round"]
    last = float(rounds.iloc[-1])
    ends = {name_of_right: (last, 0.0)}
    rows = []
    values = [0.0]
    for name, history in others.items():
        gaps = 100 * (history.frame["test_accuracy"] - base.frame["test_accuracy"])
        figure.add_scatter(
            x=rounds,
            y=gaps,
            name=name,
            mode="lines",
            line={"color": styles[name].colour, "dash": styles[name].dash, "width": 3},
            hovertemplate=_("round %{x}: %{y:+.1f} points") + f"<extra>{name}</extra>",
        )
        ends[name] = (last, float(gaps.iloc[-1]))
        values += gaps.tolist()
        rows.append([name, f"{gaps.iloc[-1]:+.1f}", f"{gaps.abs().max():.1f}"])
    add_level(figure, (float(rounds.iloc[0]), last), 0.0, name_of_right, {"color": INK, "width": 1})
    figure.update_xaxes(range=[float(rounds.iloc[0]), last])
    name_ends(figure, ends, colours, float(np.ptp(values)), leader=LEADER)
    phrase = _("{name} ends at {end}, at most {most} away")
    phrases = [phrase.format(name=name, end=end, most=far) for name, end, far in rows]
    text = _("Accuracy less that of {name}, in points, round by round. {phrases}.").format(
        name=name_of_right, phrases=_("; ").join(phrases)
    )
    set_description(figure, text, [_("run"), _("at the end"), _("at most")], rows)
    return figure


def differences(
    values: Mapping[str, Sequence[float] | np.ndarray],
    *,
    margin: float,
    title: str,
    x_title: str = _("difference in points of accuracy"),
    digits: int = 1,
) -> go.Figure:
    """Paired differences as dots, one for each seed, with the mean and its 95 % interval; ±δ.

    ``values``: name → one difference for each seed [n], n ≥ 2, as shares. ``digits``: decimals of
    the numbers, in points. Raises ``ValueError`` as :func:`fedlab_core.compare.t_interval`.
    """
    height = 170 + 70 * len(values)
    figure = new_figure(title=title, x_title=x_title, y_title="", height=height, legend=False)
    rows: list[list[Any]] = []
    for row, (name, given) in enumerate(values.items()):
        points = 100 * np.asarray(given, dtype=float)
        found = t_interval(points)
        mean, low, high = in_words(found, digits)
        _add_pairs(figure, row, name, points, found)
        words = _("{name}: {mean} [{low}, {high}]")
        _add_words(figure, row, words.format(name=name, mean=mean, low=low, high=high))
        rows.append([name, mean, low, high, found.runs])
    _add_margin(figure, margin, len(values) - 0.45)
    figure.update_yaxes(range=[len(values) - 0.3, -0.6], visible=False)
    columns = [_("name"), _("mean"), _("low"), _("high"), _("seeds")]
    set_description(figure, _pairs_in_words(row[:4] for row in rows), columns, rows)
    return figure


def grouped_differences(
    groups: Mapping[str, Mapping[str, Sequence[float] | np.ndarray]], *, margin: float, title: str
) -> go.Figure:
    """:func:`differences` in groups, in less room: the names and numbers are left of the dots.

    ``groups``: heading → name → one difference for each seed [n], n ≥ 2, as shares.
    """
    figure = new_figure(title=title, x_title=_("difference in points of accuracy"), y_title="")
    ticks = {}
    rows: list[list[Any]] = []
    place = 0.0
    for heading, values in groups.items():
        ticks[place + 0.3] = f"<b>{heading}</b>"  # nearer to its own rows
        for name, given in values.items():
            place += 1
            points = 100 * np.asarray(given, dtype=float)
            found = t_interval(points)
            mean, low, high = in_words(found, 1)
            _add_pairs(figure, place, _in_group(heading, name), points, found)
            ticks[place + 0.15] = f"{name}<br>{mean} [{low}, {high}]"
            rows.append([heading, name, mean, low, high, found.runs])
        place += 1
    _add_margin(figure, margin, place - 0.2)
    figure.update_yaxes(range=[place + 0.2, -0.6], tickvals=[*ticks], ticktext=[*ticks.values()])
    figure.update_yaxes(showgrid=False, ticks="")
    figure.update_layout(showlegend=False, height=int(130 + 42 * (place + 0.8)))
    columns = [_("group"), _("name"), _("mean"), _("low"), _("high"), _("seeds")]
    text = _pairs_in_words([_in_group(row[0], row[1]), *row[2:5]] for row in rows)
    set_description(figure, text, columns, rows)
    return figure


def _in_group(group: str, name: str) -> str:
    return _("{group}, {name}").format(group=group, name=name)


def _pairs_in_words(rows: Iterable[Sequence[str]]) -> str:
    """The description of paired differences; a row: name, mean, and the ends of its interval."""
    phrase = _("{name} {mean} points, {low} to {high}")
    phrases = [
        phrase.format(name=name, mean=mean, low=low, high=high) for name, mean, low, high in rows
    ]
    text = _("Paired differences, a dot for each seed, mean and 95 % interval. {phrases}.")
    return text.format(phrases=_("; ").join(phrases))


def add_band(figure: go.Figure, margin: float) -> None:
    """Add the band ±δ of differences in points that are too small to count, and a line at zero."""
    band = rgba(GREY, 0.18)
    figure.add_vrect(x0=-100 * margin, x1=100 * margin, fillcolor=band, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1})


def _add_margin(figure: go.Figure, margin: float, y: float) -> None:
    """Add the band ±δ, and its name at ``y``."""
    add_band(figure, margin)
    note = {"text": f"±δ = {100 * margin:g}", "font": {"color": GREY}, "showarrow": False}
    figure.add_annotation(x=0, y=y, **note)


def in_words(found: Interval, digits: int) -> list[str]:
    """Mean and interval [3], with a decimal more where ``digits`` would show nothing but zero,
    which has no sign.
    """
    numbers = (found.mean, found.low, found.high)
    if any(abs(number) < 0.5 * 10**-digits for number in numbers):
        digits += 1
    texts = [f"{number:+z.{digits}f}" for number in numbers]
    return [text if float(text) else text.lstrip("+") for text in texts]


def _add_pairs(
    figure: go.Figure, row: float, name: str, points: np.ndarray, found: Interval
) -> None:
    """Add the dots of one name, and below them its mean with the interval."""
    figure.add_scatter(
        x=points,
        y=[row] * len(points),
        name=_("{name}, one seed each").format(name=name),
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": INK, "line": {"width": 1.5}},
        hovertemplate=_("%{x:+.1f} points") + "<extra>" + _("one seed") + "</extra>",
    )
    bar = {"type": "data", "array": [found.half_width], "thickness": 3, "width": 8, "color": INK}
    figure.add_scatter(
        x=[found.mean],
        y=[row + 0.3],
        name=_("{name}, mean and 95 % interval").format(name=name),
        mode="markers",
        error_x=bar,
        marker={"symbol": "diamond", "size": 12, "color": INK},
        hovertemplate=_("mean %{x:+.1f} points") + "<extra></extra>",
    )


def _add_words(figure: go.Figure, row: int, words: str) -> None:
    """Write the name and the numbers of a row above its dots, in one column."""
    column = {"xref": "paper", "x": 0, "xanchor": "left"}
    figure.add_annotation(y=row - 0.32, text=words, showarrow=False, bgcolor=PAPER, **column)
