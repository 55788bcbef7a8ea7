"""Two claims of the sources: bare intervals, and the same with the reader's ``verdict`` and
``holm``. And the picture of the six verdicts.
"""

from collections.abc import Sequence
from typing import NamedTuple

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
_LEAST = 1e-4  # smaller p-values are not written out
# what each statement compares; the axis and the rates
STATEMENTS = {
    "000-1a": _("SCAFFOLD − FedProx,<br>digits, one rate"),
    "fair-2b": _("SCAFFOLD − FedProx,<br>digits, best rates"),
    "000-1f": _("SCAFFOLD − FedProx,<br>MNIST, one rate"),
    "000-1b": _("FedProx − FedAvg,<br>digits, one rate"),
    "fair-2c": _("FedProx − FedAvg,<br>digits, best rates"),
    "000-1g": _("FedProx − FedAvg,<br>MNIST, one rate"),
    "002-3a": _("digits, by rounds,<br>one rate"),
    "fair-2q": _("digits, by rounds,<br>best rates"),
    "fair-2u": _("digits, by bytes,<br>best rates"),
    "fair-2t": _("digits, by updates,<br>best rates"),
    "fair-3a": _("MNIST, by rounds,<br>best rates"),
    "fair-3f": _("MNIST, by updates,<br>best rates"),
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


class ClaimRow(NamedTuple):
    """A statement with its mean, low and high in points, its number of ``seeds``, the reader's
    ``verdict``, or "", its p-value, and whether the reader's correction keeps it.
    """

    id: str
    interval: tuple[float, float, float]
    seeds: int
    verdict: str
    p: float
    kept: bool

    @property
    def p_in_words(self) -> str:
        """The p-value in words, or a dash where there is no verdict."""
        if self.verdict in judging.OPEN:
            return "–"
        return f"p < {_LEAST:.4f}" if self.p < _LEAST else f"p = {self.p:.2g}"

    @property
    def is_open(self) -> bool:
        """Whether there is a verdict that is not kept."""
        return bool(self.verdict) and self.verdict not in judging.OPEN and not self.kept

    @property
    def after(self) -> str:
        """What the correction says of the verdict, or a dash where there is none to keep."""
        if self.verdict in judging.OPEN:
            return "–"
        return _("kept") if self.kept else _("not kept")


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


def claim(
    title: str,
    statements: Sequence[str],
    verdict: Judge | None = None,
    holm: Correct | None = None,
) -> go.Figure:
    """Draw ``statements`` in points: a stroke for each seed, the mean and its 95 % interval.

    ``verdict``: the reader's function; without it the intervals are bare. ``holm``: the reader's
    correction among all statements; a dot is open where it does not keep the verdict. With it
    p-values replace the seeds and the ends of the intervals.

    All statements must be differences of accuracies that expect a positive number, with the same
    margin.
    """
    every = judging.stored()
    delta = _POINTS * every[statements[0]].finding.margin
    answers = [answer for answer in (verdict, holm) if answer]
    whole = title
    if answers:
        whole = _("{title}, {whose}").format(title=title, whose=own.whose(*answers))
    x_title = _("difference in points (grey: within δ = {delta:g})").format(delta=delta)
    names = [marked(STATEMENTS[id], every[id].statement) for id in statements]
    figure = interval_rows.empty(whole, x_title, names, band=delta)
    rows = _rows(statements, delta, verdict, holm)
    for place, row in enumerate(rows):
        _add_row(figure, place, row, with_p=bool(holm))
    plain = [name.replace("<br>", " ") for name in names]
    _describe(figure, title, plain, rows, answers)
    return figure


def _rows(
    statements: Sequence[str], delta: float, verdict: Judge | None, holm: Correct | None
) -> list[ClaimRow]:
    """The statements in points, with the reader's verdict, or "" without one, and whether the
    correction keeps it.
    """
    every = judging.stored()
    kept = dict.fromkeys(every, True)
    if holm:
        kept = kept_by(holm, (judged.finding for judged in every.values()))
    rows = []
    for id in statements:
        finding = every[id].finding
        mean, low, high = (_POINTS * end for end in (finding.mean, finding.low, finding.high))
        said = str(verdict(low, high, delta)) if verdict else ""
        rows.append(ClaimRow(id, (mean, low, high), finding.n, said, finding.p, kept[id]))
    return rows


def _add_row(figure: go.Figure, place: int, row: ClaimRow, *, with_p: bool) -> None:
    """Add the interval of a row, and on the right its verdict and its ends. ``with_p``: with the
    p-value and the correction, in place of the seeds and the ends.
    """
    if not with_p:
        interval_rows.add_seeds(figure, place, differences(row.id).tolist(), row.verdict)
    interval_rows.add_interval(figure, place, row.interval, row.verdict, is_open=row.is_open)
    lines = [_("{count} seeds").format(count=row.seeds)]
    if row.verdict:
        lines = [f"<b>{judging.NAMES[row.verdict]}</b>"]
    if not with_p:
        lines.append(_ends(*row.interval[1:]))
    elif row.verdict not in judging.OPEN:
        lines += [row.p_in_words, _("not kept")] if row.is_open else [row.p_in_words]
    interval_rows.add_text(figure, place, "<br>".join(lines), interval_rows.look(row.verdict)[0])


def _describe(
    figure: go.Figure,
    title: str,
    names: Sequence[str],
    rows: Sequence[ClaimRow],
    answers: Sequence[object],
) -> None:
    """Say each interval, with its verdict if there is one of ``answers``, and what is kept if there
    are two.
    """
    columns = {
        _("what"): list(names),
        _("mean and interval, points"): [_interval(*row.interval) for row in rows],
        _("seeds"): [f"{row.seeds}" for row in rows],
    }
    said = columns[_("mean and interval, points")]
    if answers:
        said = [judging.NAMES[row.verdict] for row in rows]
        columns[_("verdict")] = said
    if len(answers) > 1:
        columns[_("after correction")] = [row.after for row in rows]
        columns[_("p-value")] = [row.p_in_words for row in rows]
    pairs = zip(names, said, strict=True)
    phrases = [_("{name}: {verdict}").format(name=name, verdict=words) for name, words in pairs]
    text = _("{title}: {said}.").format(title=title, said=_("; ").join(phrases))
    table = [list(cells) for cells in zip(*columns.values(), strict=True)]
    set_description(figure, text, list(columns), table)


def _interval(mean: float, low: float, high: float) -> str:
    """A mean and its interval, in tenths of a point, or in hundredths if all are near zero."""
    head = f"{mean:+.{_digits(low, high)}f}".replace("-", "−")
    return f"{head} {_ends(low, high)}"


def _ends(low: float, high: float) -> str:
    """The interval without its mean, with as many digits as :func:`_interval` has."""
    digits = _digits(low, high)
    return f"[{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")


def _digits(low: float, high: float) -> int:
    return 1 if max(abs(low), abs(high)) >= 0.1 else 2
