"""The claims of the sources in words, and the marks that they get as the margin is dragged.

The mark of a claim is the sign and the verdict of one of its statements, or "◐ in part".
"""

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
from fedlab_core.plots.colours import VERDICTS
from fedlab_core.plots.style import set_description
from fedlab_course import words as words_of
from fedlab_course.chapters.ch14_what_holds import interval_rows
from fedlab_course.check import own
from fedlab_course.evidence import configs, forest, judging, plans, shown, tables
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
_WORDS = Path(__file__).parent / "claims_in_words.toml"
_FIXED = ("diverged", "not tested", "not measured")  # no margin changes these
IN_PART = _("◐ in part")
_FOR = ("holds", "confirmed", "higher")
_AGAINST = ("opposite", "refuted", "lower", "equivalent")
_EQUIVALENT = 8  # claims: the goal of the slider where all of them are shown
# what a statement expects → the verdict in place of that on a number which should be positive
_EXPECTED = {
    "positive": {},
    "zero": {"equivalent": "confirmed", "holds": "refuted", "opposite": "refuted"},
    "nonzero": {"equivalent": "refuted", "holds": "confirmed", "opposite": "confirmed"},
}
_TICKS = {-10: "−10", -1: "−1", 0: "0", 1: "1", 10: "10", 100: "100"}
_ROW = 36  # pixels
_WRAP = 36  # characters of a line of a claim
# a few claims for a first look, with different marks
FEW = ("000-1", "000-2", "001-1", "001-2", "002-1", "002-3", "002-5", "004-4")


class Row(NamedTuple):
    """A claim in ``words``, the ``judged`` statement that speaks for it, and its ``verdict`` at a
    margin; ``kept``: whether the correction keeps the verdict, or None where nothing was corrected;
    ``alike``: how many of the claim's statements have a verdict with the same sign; how ``many`` it
    has; and whether the claim holds only ``in_part``, because another statement is against it.
    """

    words: str
    judged: JudgedStatement
    verdict: str
    kept: bool | None
    alike: int
    many: int
    in_part: bool


@lru_cache(maxsize=1)
def leads() -> dict[str, JudgedStatement]:
    """The statement that speaks for each claim of the sources, by claim."""
    every = judging.stored()
    mine = [claim for claim in configs.read() if configs.source_of(claim.id) != "others"]
    return {claim.id: every[claim.lead or claim.statements[0].id] for claim in mine}


@lru_cache(maxsize=1)
def in_words() -> dict[str, str]:
    """Each claim of the sources in a few words."""
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


def rows(
    factor: float, judge: Judge | None, correct: Correct | None, only: Sequence[str] = ()
) -> list[Row]:
    """The claims at planned margins times ``factor``, with the reader's verdicts and correction.

    ``only``: the identifiers of the claims, by default all.
    """
    findings = judged_at(factor)
    kept = {} if correct is None else kept_by(correct, findings.values())
    found = []
    for claim in only or leads():
        judged = leads()[claim]
        finding = findings[judged.statement.id]
        statements = judged.claim.statements
        verdicts = {one.id: _verdict(one, findings[one.id], judge) for one in statements}
        verdict = verdicts[finding.id]
        alike = sum(_sign(one) == _sign(verdict) for one in verdicts.values())
        moved = replace(judged, finding=finding)
        stays = None if correct is None else kept[finding.id]
        in_part = holds_in_part(verdict, list(verdicts.values()))
        found.append(Row(in_words()[claim], moved, verdict, stays, alike, len(statements), in_part))
    return found


def holds_in_part(lead: str, verdicts: Sequence[str]) -> bool:
    """Whether the ``lead`` of a claim supports it and another of its ``verdicts`` is against it."""
    return lead in _FOR and any(verdict in _AGAINST for verdict in verdicts)


def _verdict(statement: Statement, finding: judging.Finding, judge: Judge | None) -> str:
    """The verdict on a statement, by the reader's ``judge`` if there is one."""
    if judge is None or finding.verdict in _FIXED:
        return finding.verdict
    said = str(judge(float(finding.low), float(finding.high), float(finding.margin)))
    return _EXPECTED[statement.expect].get(said, said)


def _sign(verdict: str) -> str:
    """The sign before a verdict, such as "✓" for "holds" and "confirmed"."""
    return shown.WORDS[verdict][0]


def all_claims(
    verdict: Judge | None = None, holm: Correct | None = None, only: Sequence[str] = ()
) -> Idea:
    """An interval and a mark for each claim. The slider ``factor`` multiplies all planned margins.

    ``verdict`` and ``holm``: the reader's functions, which give the verdicts and leave a dot open
    where the verdict is not kept among all statements; by default the stored rules, without a
    correction. ``only``: the identifiers of the claims, by default all.
    """
    tip = _("Every δ is multiplied by this; 1 is the plan")
    factors = slider(_("all δ, times"), FACTORS, 1.0, tip)
    goal = _goal_of_few() if only else _goal_of_all()

    def draw(factor: float) -> go.Figure:
        functions = [one for one in (verdict, holm) if one is not None]
        whose = own.whose(*functions) if functions else ""
        return _figure(factor, rows(factor, verdict, holm, only), whose)

    return Idea(draw, {"factor": factors}, goal=goal)


def _goal_of_few() -> Goal:
    first = leads()["000-1"].statement.id
    wish = _("find the least factor at which the first claim is equivalent")
    least = min(one for one in FACTORS if judged_at(one)[first].verdict == "equivalent")
    return Goal(wish, lambda factor: factor == least)


def _goal_of_all() -> Goal:
    def equivalent(factor: float) -> int:
        return sum(judged_at(factor)[one.statement.id].verdict == "equivalent" for one in mine)

    mine = leads().values()
    wish = _("find the least factor at which {count} claims are equivalent").format(
        count=_EQUIVALENT
    )
    least = min(one for one in FACTORS if equivalent(one) >= _EQUIVALENT)
    return Goal(wish, lambda factor: factor == least)


def _figure(factor: float, found: Sequence[Row], whose: str) -> go.Figure:
    title = _("Planned δ × {factor:g}, {whose}") if whose else _("Planned δ × {factor:g}")
    figure = interval_rows.empty(
        title.format(factor=factor, whose=whose),
        _("mean and 95 % interval in planned δ (logarithmic far from 0)"),
        ["<br>".join(textwrap.wrap(_name(row), _WRAP)) for row in found],
        band=shown.bend(factor),
        row=_ROW,
    )
    for place, row in enumerate(found):
        _add_claim(figure, place, row)
    _label_margins(figure, found)
    _describe(figure, factor, found, whose)
    return figure


def _label_margins(figure: go.Figure, found: Sequence[Row]) -> None:
    """Label the margins below the figure."""
    edge = shown.bend(shown.MOST)
    ticks = {shown.bend(tick): text for tick, text in _TICKS.items()}
    if any(_places(row)[0] == edge for row in found):
        ticks[edge] = "δ = 0"
    figure.update_xaxes(
        tickvals=list(ticks), ticktext=list(ticks.values()), range=[-0.55, 1.06 * edge], tickangle=0
    )


def _name(row: Row) -> str:
    """The words for a claim, with † if the statement was not fixed before its data."""
    return f"{row.words}\u00a0†" if plans.deviation(row.judged.statement) else row.words


def _measured(row: Row) -> str:
    """What the number of a claim is, with its mean and interval."""
    measure = row.judged.statement.measure
    name = shown.MEASURES.get(measure) or measure.replace("_", " ")
    return f"{name}: {shown.interval(row.judged)}"


def _places(row: Row) -> list[float]:
    """Where the mean of a claim and the ends of its interval are, in planned margins."""
    planned = judging.stored()[row.judged.finding.id]
    if planned.finding.margin < 1e-6 and planned.finding.mean == 0:
        return [0.0] * 3  # a count or a closed form, exactly as it should be
    return shown.in_margins(planned)


def _add_claim(figure: go.Figure, place: int, row: Row) -> None:
    """Add the mean and interval of a claim in planned margins, and its mark on the right."""
    colour = VERDICTS["other"] if row.in_part else forest.LOOKS[row.verdict][0]
    middle, low, high = _places(row)
    interval_rows.add_interval(
        figure,
        place,
        (middle, low, high),
        row.verdict,
        colour=colour,
        is_open=_is_open(row),
        hover="<br>".join(
            [row.judged.statement.sentence, shown.interval(row.judged), _agreement(row)]
        ),
    )
    lines = [f"<b>{_mark(row)}</b>", _("not kept") if _is_open(row) else ""]
    interval_rows.add_text(figure, place, "<br>".join(filter(None, lines)), colour)


def _is_open(row: Row) -> bool:
    """Whether the verdict is not kept after the correction."""
    return row.kept is False and row.verdict not in judging.OPEN


def _mark(row: Row) -> str:
    """The mark of a claim: the sign and verdict of its leading statement, or "◐ in part"."""
    text = {"higher": _("▲ higher"), "lower": _("▼ lower"), "equivalent": _("≈ equivalent")}
    return IN_PART if row.in_part else text.get(row.verdict, shown.WORDS[row.verdict])


def _agreement(row: Row) -> str:
    """How many statements of a claim have the sign of the leading one, such as "✓: 3 of 8"."""
    text = _("statements with {sign}: {alike} of {many}")
    return text.format(sign=_sign(row.verdict), alike=row.alike, many=row.many)


def _describe(figure: go.Figure, factor: float, found: Sequence[Row], whose: str) -> None:
    counts = Counter(_("in part") if row.in_part else judging.NAMES[row.verdict] for row in found)
    phrases = _(", ").join(
        _("{count} {verdict}").format(count=count, verdict=verdict)
        for verdict, count in counts.most_common()
    )
    when = _("{count} claims at {factor:g} times their planned margins")
    if whose:
        when = _("{count} claims at {factor:g} times their planned margins, {whose}")
    text = _(
        "{when}: {phrases}. A dot is a mean, a bar its 95 % interval, and the grey band the margin."
    ).format(when=when.format(count=len(found), factor=factor, whose=whose), phrases=phrases)
    columns = {
        _("claim"): [_name(row) for row in found],
        _("mark"): [_mark(row) for row in found],
        _("after correction"): [_kept_or_not(row) for row in found],
        _("its statements"): [_agreement(row) for row in found],
        _("mean and interval"): [_measured(row) for row in found],
        "δ": [f"{row.judged.finding.margin:g}" for row in found],
    }
    if all(row.kept is None for row in found):
        del columns[_("after correction")]
    table = [list(cells) for cells in zip(*columns.values(), strict=True)]
    set_description(figure, text, list(columns), table)


def _kept_or_not(row: Row) -> str:
    """Whether the correction keeps the verdict, in words, or a dash where it keeps none."""
    if row.kept is None or row.verdict in judging.OPEN:
        return "–"
    return _("kept") if row.kept else _("not kept")
