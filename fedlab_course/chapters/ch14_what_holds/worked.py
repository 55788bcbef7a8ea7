"""Three claims of the sources, worked through with the reader's ``word`` and ``stands``, and the
picture of the six words.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch14_what_holds.dragged import LEVEL, Stands, Word, add_word
from fedlab_course.check import own
from fedlab_course.evidence import forest, judging, plans, tables

_ = translator(__name__)

_POINTS = 100  # accuracies → points
_ROW = 46  # pixels
_AROUND = 120
_RIGHT = 150
_BAND = 0.16  # opacity
# what each row compares; the axis and the rates
ROWS = {
    "000-1a": _("SCAFFOLD − FedProx,<br>one rate"),
    "fair-2b": _("SCAFFOLD − FedProx,<br>best rates"),
    "000-1b": _("FedProx − FedAvg,<br>one rate"),
    "fair-2c": _("FedProx − FedAvg,<br>best rates"),
    "002-3a": _("by rounds,<br>one rate"),
    "fair-2q": _("by rounds,<br>best rates"),
    "fair-2t": _("by server updates,<br>best rates"),
    "001-1a": _("FedAvg − FedProx,<br>first fifth of the rounds"),
}
_EXAMPLES = (
    ("holds", (1.5, 2.9), _("above δ")),
    ("higher", (0.4, 2.0), _("above 0, and δ is in it")),
    ("equivalent", (-0.4, 0.7), _("between −δ and δ")),
    ("undecided", (-0.5, 2.2), _("0 is in it, and δ or −δ")),
    ("lower", (-2.0, -0.4), _("below 0, and −δ is in it")),
    ("opposite", (-2.9, -1.5), _("below −δ")),
)


def differences(row: str) -> np.ndarray:
    """The paired differences of a statement in points, one a seed [n]."""
    numbers = tables.numbers(judging.stored()[row].statement)
    return _POINTS * np.array(list(numbers.values()))


def words() -> go.Figure:
    """Draw an interval for each of the six words, beside the band from −δ to δ."""
    figure = _empty(
        _("An interval gets a word"), _("the number that a statement is about"), len(_EXAMPLES)
    )
    for place, (verdict, (low, high), _unused) in enumerate(_EXAMPLES):
        colour, symbol = forest.LOOKS[verdict]
        _add_interval(figure, place, (low + high) / 2, (low, high), colour, symbol)
        add_word(figure, place, f"<b>{judging.NAMES[verdict]}</b>", colour)
    _label(figure, [where for *_, where in _EXAMPLES])
    figure.update_xaxes(range=[-3.2, 3.2], tickvals=[-1, 0, 1], ticktext=["−δ", "0", "δ"])
    text = _("An interval for each word, beside the band from −δ to δ.")
    rows = [[judging.NAMES[verdict], where] for verdict, _unused, where in _EXAMPLES]
    set_description(figure, text, [_("word"), _("the interval is")], rows)
    return figure


def claim(title: str, rows: Sequence[str], word: Word, stands: Stands) -> go.Figure:
    """Draw the statements ``rows`` in points: a stroke for each seed, the mean and its 95 %
    interval, and the verdict by the reader's ``word`` and ``stands``.

    All statements must be differences of accuracies that expect a positive number, with the same
    margin.
    """
    every = judging.stored()
    kept = _kept(stands)
    delta = _POINTS * every[rows[0]].finding.margin
    x_title = _("difference in points (grey: within δ = {delta:g})").format(delta=delta)
    whole = _("{title}, {whose}").format(title=title, whose=own.whose(word, stands))
    figure = _empty(whole, x_title, len(rows))
    table = []
    for place, row in enumerate(rows):
        finding = every[row].finding
        mean, low, high = (_POINTS * end for end in (finding.mean, finding.low, finding.high))
        said = str(word(low, high, delta))
        colour, symbol = forest.LOOKS[said]
        is_open = said not in judging.OPEN and not kept[row]
        _add_seeds(figure, place, differences(row), colour)
        look = f"{symbol}-open" if is_open else symbol
        _add_interval(figure, place, mean, (low, high), colour, look)
        about = _interval(mean, low, high)
        remark = _("uncorrected") if is_open else ""
        name = judging.NAMES[said]
        lines = [line for line in (f"<b>{name}</b>", remark, about) if line]
        add_word(figure, place, "<br>".join(lines), colour)
        kept_or_not = "–" if said in judging.OPEN else remark or _("kept")
        table.append([_name(row).replace("<br>", " "), about, f"{finding.n}", name, kept_or_not])
    _label(figure, [_name(row) for row in rows])
    _scale_band(figure, delta)
    _describe(figure, title, table)
    return figure


def _describe(figure: go.Figure, title: str, table: list[list[str]]) -> None:
    columns = [
        _("what"),
        _("mean and interval, points"),
        _("seeds"),
        _("word"),
        _("after correction"),
    ]
    said = _("; ").join(_("{name}: {word}").format(name=row[0], word=row[3]) for row in table)
    text = _("{title}: {said}.").format(title=title, said=said)
    set_description(figure, text, columns, table)


def _kept(stands: Stands) -> dict[str, bool]:
    """Which statements the correction keeps, among all of the report."""
    findings = [judged.finding for judged in judging.stored().values()]
    kept = stands(np.array([finding.p for finding in findings]), LEVEL)
    return {finding.id: bool(one) for finding, one in zip(findings, kept, strict=True)}


def _interval(mean: float, low: float, high: float) -> str:
    """A mean and its interval, in tenths of a point, or in hundredths if all are near zero."""
    digits = 1 if max(abs(low), abs(high)) >= 0.1 else 2
    return f"{mean:+.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")


def _name(row: str) -> str:
    """The words for a statement, with † if it was not fixed before its data."""
    late = plans.deviation(judging.stored()[row].statement)
    return f"{ROWS[row]} †" if late else ROWS[row]


def _empty(title: str, x_title: str, count: int) -> go.Figure:
    """A figure for ``count`` intervals, with the band from −1 to 1 and a line at zero."""
    height = _AROUND + _ROW * count
    figure = new_figure(title=title, x_title=x_title, y_title="", height=height, legend=False)
    grey = rgba(GREY, _BAND)
    figure.add_vrect(x0=-1, x1=1, fillcolor=grey, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_layout(margin_r=_RIGHT)
    return figure


def _scale_band(figure: go.Figure, delta: float) -> None:
    figure.layout.shapes[0].update(x0=-delta, x1=delta)


def _label(figure: go.Figure, names: Sequence[str]) -> None:
    """Write the names of the rows on the left, the first on top."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=list(names),
        tickfont={"color": INK, "size": 12},
        range=[len(names) - 0.5, -0.5],
        automargin=True,
        ticks="",
        showline=False,
    )


def _add_seeds(figure: go.Figure, place: int, values: np.ndarray, colour: str) -> None:
    """Add a stroke for each seed, below the interval."""
    stroke = {"symbol": "line-ns-open", "size": 8, "color": colour, "line": {"width": 1.2}}
    y = [place + 0.3] * len(values)
    figure.add_scatter(
        x=values, y=y, mode="markers", marker=stroke, name=_("one seed"), opacity=0.7
    )


def _add_interval(
    figure: go.Figure,
    place: int,
    mean: float,
    ends: tuple[float, float],
    colour: str,
    symbol: str,
) -> None:
    low, high = ends
    bar = {"type": "data", "symmetric": False, "array": [high - mean], "arrayminus": [mean - low]}
    figure.add_scatter(
        x=[mean],
        y=[place],
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": 10},
        error_x=bar | {"thickness": 2.5, "width": 6, "color": colour},
        name=_("mean and 95 % interval"),
    )
