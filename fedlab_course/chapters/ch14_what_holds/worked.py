"""Two claims of the sources, worked through with the reader's ``verdict`` and ``holm``, and the
picture of the six verdicts.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.style import set_description
from fedlab_course.chapters.ch14_what_holds import interval_rows
from fedlab_course.chapters.ch14_what_holds.dragged import Correct, Judge, kept_by, marked
from fedlab_course.check import own
from fedlab_course.evidence import forest, judging, tables

_ = translator(__name__)

_POINTS = 100  # accuracies → points
# what each statement compares; the axis and the rates
STATEMENTS = {
    "000-1a": _("SCAFFOLD − FedProx,<br>one rate"),
    "fair-2b": _("SCAFFOLD − FedProx,<br>best rates"),
    "000-1b": _("FedProx − FedAvg,<br>one rate"),
    "fair-2c": _("FedProx − FedAvg,<br>best rates"),
    "002-3a": _("digits, by rounds,<br>one rate"),
    "fair-2q": _("digits, by rounds,<br>best rates"),
    "fair-2u": _("digits, by bytes,<br>best rates"),
    "fair-2t": _("digits, by updates,<br>best rates"),
    "002-3f": _("MNIST, by rounds,<br>one rate"),
    "fair-3a": _("MNIST, by rounds,<br>best rates"),
    "002-3v": _("MNIST with the CNN,<br>by rounds, implicit step"),
    "002-3k": _("CIFAR-10, by rounds,<br>one rate"),
}
_EXAMPLES = (
    ("holds", (1.5, 2.9), _("above δ")),
    ("higher", (0.4, 2.0), _("above 0, and δ is in it")),
    ("equivalent", (-0.4, 0.7), _("between −δ and δ")),
    ("undecided", (-0.5, 2.2), _("0 is in it, and δ or −δ")),
    ("lower", (-2.0, -0.4), _("below 0, and −δ is in it")),
    ("opposite", (-2.9, -1.5), _("below −δ")),
)


def differences(statement: str) -> np.ndarray:
    """The paired differences of a statement in points, one a seed [n]."""
    numbers = tables.numbers(judging.stored()[statement].statement)
    return _POINTS * np.array(list(numbers.values()))


def verdicts() -> go.Figure:
    """Draw an interval for each of the six verdicts, beside the band from −δ to δ."""
    title = _("Where an interval is gives its verdict")
    wheres = [where for *_unused, where in _EXAMPLES]
    figure = interval_rows.empty(title, _("the number that a statement is about"), wheres)
    for place, (verdict, (low, high), _unused) in enumerate(_EXAMPLES):
        interval_rows.add_interval(figure, place, ((low + high) / 2, low, high), verdict)
        text = f"<b>{judging.NAMES[verdict]}</b>"
        interval_rows.add_text(figure, place, text, forest.LOOKS[verdict][0])
    figure.update_xaxes(range=[-3.2, 3.2], tickvals=[-1, 0, 1], ticktext=["−δ", "0", "δ"])
    text = _("An interval for each verdict, beside the band from −δ to δ.")
    rows = [[judging.NAMES[verdict], where] for verdict, _unused, where in _EXAMPLES]
    set_description(figure, text, [_("verdict"), _("the interval is")], rows)
    return figure


def claim(title: str, statements: Sequence[str], verdict: Judge, holm: Correct) -> go.Figure:
    """Draw ``statements`` in points: a stroke for each seed, the mean and its 95 % interval, and
    the verdict by the reader's ``verdict`` and ``holm``.

    All statements must be differences of accuracies that expect a positive number, with the same
    margin.
    """
    every = judging.stored()
    kept = kept_by(holm, (judged.finding for judged in every.values()))
    delta = _POINTS * every[statements[0]].finding.margin
    x_title = _("difference in points (grey: within δ = {delta:g})").format(delta=delta)
    whole = _("{title}, {whose}").format(title=title, whose=own.whose(verdict, holm))
    names = [marked(STATEMENTS[id], every[id].statement) for id in statements]
    figure = interval_rows.empty(whole, x_title, names, band=delta)
    table = []
    for place, id in enumerate(statements):
        finding = every[id].finding
        mean, low, high = (_POINTS * end for end in (finding.mean, finding.low, finding.high))
        said = str(verdict(low, high, delta))
        is_open = said not in judging.OPEN and not kept[id]
        interval_rows.add_seeds(figure, place, differences(id).tolist(), said)
        interval_rows.add_interval(figure, place, (mean, low, high), said, is_open=is_open)
        about = _interval(mean, low, high)
        name = judging.NAMES[said]
        head = _("<b>{verdict}</b>, not kept") if is_open else "<b>{verdict}</b>"
        text = f"{head.format(verdict=name)}<br>{about}"
        interval_rows.add_text(figure, place, text, forest.LOOKS[said][0])
        kept_or_not = _("not kept") if is_open else _("kept")
        if said in judging.OPEN:
            kept_or_not = "–"
        plain = names[place].replace("<br>", " ")
        table.append([plain, about, f"{finding.n}", name, kept_or_not])
    _describe(figure, title, table)
    return figure


def _describe(figure: go.Figure, title: str, table: list[list[str]]) -> None:
    columns = [
        _("what"),
        _("mean and interval, points"),
        _("seeds"),
        _("verdict"),
        _("after correction"),
    ]
    said = _("; ").join(_("{name}: {verdict}").format(name=row[0], verdict=row[3]) for row in table)
    text = _("{title}: {said}.").format(title=title, said=said)
    set_description(figure, text, columns, table)


def _interval(mean: float, low: float, high: float) -> str:
    """A mean and its interval, in tenths of a point, or in hundredths if all are near zero."""
    digits = 1 if max(abs(low), abs(high)) >= 0.1 else 2
    return f"{mean:+.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")
