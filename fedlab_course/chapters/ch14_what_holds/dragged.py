"""Eight statements on claims of the sources, and the verdicts that they get as δ is dragged."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.style import set_description
from fedlab_course import words as words_of
from fedlab_course.chapters.ch14_what_holds import interval_rows
from fedlab_course.check import own
from fedlab_course.evidence import forest, judging, plans, shown, tables
from fedlab_course.evidence.configs import Statement
from fedlab_course.evidence.judging import JudgedStatement
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_ = translator(__name__)

Judge = Callable[[float, float, float], str]
Correct = Callable[[np.ndarray, float], Any]
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LEVEL = (1 - judging.LEVEL) / 2
_WORDS = Path(__file__).parent / "statements_in_words.toml"
_FIXED = ("diverged", "not tested", "not measured")  # no margin changes these
# what a statement expects → the verdict in place of that on a number which should be positive
_EXPECTED = {
    "positive": {},
    "zero": {"equivalent": "confirmed", "holds": "refuted", "opposite": "refuted"},
    "nonzero": {"equivalent": "refuted", "holds": "confirmed", "opposite": "confirmed"},
}
_TICKS = {-10: "−10", -1: "−1", 0: "0", 1: "1", 10: "10", 100: "100"}
_ROW = 36  # pixels
_WRAP = 36  # characters of a line of a statement


class Row(NamedTuple):
    """A statement in ``words``, as it was ``judged`` at a margin, its ``verdict`` by the reader,
    and whether the reader's correction keeps that verdict.
    """

    words: str
    judged: JudgedStatement
    verdict: str
    kept: bool


@lru_cache(maxsize=1)
def in_words() -> dict[str, str]:
    """The drawn statements in a few words, by id."""
    return words_of.read(_WORDS, __name__)


@lru_cache(maxsize=16)
def judged_at(factor: float) -> dict[str, judging.Finding]:
    """The findings on all statements with every margin multiplied by ``factor``."""
    findings = {}
    for id, row in judging.stored().items():
        finding = row.finding
        if finding.verdict not in _FIXED:
            numbers = list(tables.numbers(row.statement).values())
            margin = factor * row.statement.margin
            finding = judging.judge(
                id,
                numbers,
                margin,
                expect=row.statement.expect,
                planned=finding.planned,
                exact=row.statement.exact,
            )
        findings[id] = finding
    return findings


def kept_by(correct: Correct, findings: Iterable[judging.Finding]) -> dict[str, bool]:
    """Whether a correction keeps the verdict of each statement, among all ``findings``."""
    every = list(findings)
    kept = correct(np.array([finding.p for finding in every]), LEVEL)
    return {finding.id: bool(one) for finding, one in zip(every, kept, strict=True)}


def rows(factor: float, judge: Judge, correct: Correct) -> list[Row]:
    """The drawn statements at planned margins times ``factor``, with the reader's verdicts and
    correction.
    """
    findings = judged_at(factor)
    kept = kept_by(correct, findings.values())
    found = []
    for id, words in in_words().items():
        judged = replace(judging.stored()[id], finding=findings[id])
        verdict = _verdict(judged.statement, findings[id], judge)
        found.append(Row(words, judged, verdict, kept[id]))
    return found


def _verdict(statement: Statement, finding: judging.Finding, judge: Judge) -> str:
    """The verdict on a statement by the reader's ``judge``."""
    if finding.verdict in _FIXED:
        return finding.verdict
    said = str(judge(float(finding.low), float(finding.high), float(finding.margin)))
    return _EXPECTED[statement.expect].get(said, said)


def eight(verdict: Judge, holm: Correct) -> Idea:
    """An interval and a verdict for each of eight statements. The slider ``factor`` multiplies all
    planned margins.

    ``verdict`` and ``holm``: the reader's functions, which give the verdicts and leave a dot open
    where the verdict is not kept among all statements.
    """
    tip = _("Every δ is multiplied by this; 1 is our δ")
    factors = slider(_("all δ, times"), FACTORS, 1.0, tip)
    first = next(iter(in_words()))
    least = min(one for one in FACTORS if judged_at(one)[first].verdict == "equivalent")
    wish = _("find the smallest number of times at which the top row is “equivalent”")

    def draw(factor: float) -> go.Figure:
        return _figure(factor, rows(factor, verdict, holm), own.whose(verdict, holm))

    return Idea(draw, {"factor": factors}, goal=Goal(wish, lambda factor: factor == least))


def _figure(factor: float, found: Sequence[Row], whose: str) -> go.Figure:
    figure = interval_rows.empty(
        _("Our δ × {factor:g}, {whose}").format(factor=factor, whose=whose),
        _("mean and 95 % interval in units of our δ (logarithmic far from 0)"),
        ["<br>".join(textwrap.wrap(_name(row), _WRAP)) for row in found],
        band=shown.bend(factor),
        row=_ROW,
    )
    for place, row in enumerate(found):
        _add_statement(figure, place, row)
    ticks = {shown.bend(tick): text for tick, text in _TICKS.items()}
    reach = 1.06 * shown.bend(shown.MOST)
    figure.update_xaxes(
        tickvals=list(ticks), ticktext=list(ticks.values()), range=[-0.55, reach], tickangle=0
    )
    _describe(figure, factor, found, whose)
    return figure


def marked(words: str, statement: Statement) -> str:
    """The ``words`` for a statement, with its mark of :func:`plans.mark`."""
    sign = plans.mark(statement)
    return f"{words}\u00a0{sign}" if sign else words


def _name(row: Row) -> str:
    return marked(row.words, row.judged.statement)


def _measured(row: Row) -> str:
    """What the number of a statement is, with its mean and interval."""
    measure = row.judged.statement.measure
    name = shown.MEASURES.get(measure) or measure.replace("_", " ")
    return f"{name}: {shown.interval(row.judged)}"


def _places(row: Row) -> list[float]:
    """Where the mean of a statement and the ends of its interval are, in planned margins."""
    planned = judging.stored()[row.judged.finding.id]
    if planned.finding.margin < 1e-6 and planned.finding.mean == 0:
        return [0.0] * 3  # a count or a closed form, exactly as it should be
    return shown.in_margins(planned)


def _add_statement(figure: go.Figure, place: int, row: Row) -> None:
    """Add the mean and interval of a statement in planned margins, and its verdict on the right."""
    colour = forest.LOOKS[row.verdict][0]
    middle, low, high = _places(row)
    interval_rows.add_interval(
        figure,
        place,
        (middle, low, high),
        row.verdict,
        is_open=_is_open(row),
        hover="<br>".join([row.judged.statement.sentence, shown.interval(row.judged)]),
    )
    lines = [f"<b>{_mark(row)}</b>", _("not kept") if _is_open(row) else ""]
    interval_rows.add_text(figure, place, "<br>".join(filter(None, lines)), colour)


def _is_open(row: Row) -> bool:
    """Whether the verdict is not kept after the correction."""
    return not row.kept and row.verdict not in judging.OPEN


def _mark(row: Row) -> str:
    """The sign and verdict of a statement."""
    text = {"higher": _("▲ higher"), "lower": _("▼ lower"), "equivalent": _("≈ equivalent")}
    return text.get(row.verdict, shown.WORDS[row.verdict])


def _describe(figure: go.Figure, factor: float, found: Sequence[Row], whose: str) -> None:
    counts = Counter(judging.NAMES[row.verdict] for row in found)
    phrases = _(", ").join(
        _("{count} {verdict}").format(count=count, verdict=verdict)
        for verdict, count in counts.most_common()
    )
    text = _(
        "{count} statements at {factor:g} times our δ, {whose}: {phrases}. A dot is a "
        "mean, a bar its 95 % interval, and the grey band goes from −δ to δ."
    ).format(count=len(found), factor=factor, whose=whose, phrases=phrases)
    columns = {
        _("statement"): [_name(row) for row in found],
        _("verdict"): [_mark(row) for row in found],
        _("after correction"): [_kept_or_not(row) for row in found],
        _("mean and interval"): [_measured(row) for row in found],
        "δ": [shown.margin(row.judged) for row in found],
    }
    table = [list(cells) for cells in zip(*columns.values(), strict=True)]
    set_description(figure, text, list(columns), table)


def _kept_or_not(row: Row) -> str:
    """Whether the correction keeps the verdict, in words, or a dash where it keeps none."""
    if row.verdict in judging.OPEN:
        return "–"
    return _("kept") if row.kept else _("not kept")
