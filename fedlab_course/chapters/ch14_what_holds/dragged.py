"""The claims of the sources in words, and the marks that they get as the margin is dragged."""

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, VERDICTS, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import words as words_of
from fedlab_course.check import own
from fedlab_course.evidence import configs, forest, judging, plans, shown, tables
from fedlab_course.evidence.configs import Statement
from fedlab_course.evidence.judging import JudgedStatement
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_ = translator(__name__)

Word = Callable[[float, float, float], str]
Stands = Callable[[np.ndarray, float], Any]
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LEVEL = (1 - judging.LEVEL) / 2
_WORDS = Path(__file__).parent / "claims_in_words.toml"
_FIXED = ("diverged", "not tested", "not measured")  # no margin changes these
IN_PART = _("◐ in part")
_FOR = ("holds", "confirmed", "higher")
_AGAINST = ("opposite", "refuted", "lower", "equivalent")
_EQUIVALENT = 8  # claims: the goal of the slider where all of them are shown
# what a statement expects → the words for what a number that should be positive would get
_EXPECTED = {
    "positive": {},
    "zero": {"equivalent": "confirmed", "holds": "refuted", "opposite": "refuted"},
    "nonzero": {"equivalent": "refuted", "holds": "confirmed", "opposite": "confirmed"},
}
_TICKS = {-10: "−10", -1: "−1", 0: "0", 1: "1", 10: "10", 100: "100"}
_ROW = 34  # pixels
_WRAP = 36  # characters of a line of a claim
# a few claims for a first look, with different words
FEW = ("000-1", "000-2", "001-1", "001-2", "002-1", "002-3", "002-5", "004-4")


class Row(NamedTuple):
    """A claim in ``words``, the ``judged`` statement that speaks for it, and its ``verdict`` at a
    margin; ``significant``: among all statements, or None where nothing was corrected; ``alike``:
    how many of the claim's statements have a verdict with the same sign; how ``many`` it has; and
    whether the claim holds only ``in_part``, because another statement speaks against it.
    """

    words: str
    judged: JudgedStatement
    verdict: str
    significant: bool | None
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


def rows(
    factor: float, word: Word | None, stands: Stands | None, only: Sequence[str] = ()
) -> list[Row]:
    """The claims at planned margins times ``factor``, with the reader's words and correction.

    ``only``: the identifiers of the claims, by default all.
    """
    findings = judged_at(factor)
    significant: dict[str, bool] = {}
    if stands is not None:
        p = np.array([finding.p for finding in findings.values()])
        significant = dict(zip(findings, map(bool, stands(p, LEVEL)), strict=True))
    found = []
    for claim in only or leads():
        judged = leads()[claim]
        finding = findings[judged.statement.id]
        statements = judged.claim.statements
        verdicts = {one.id: _verdict(one, findings[one.id], word) for one in statements}
        verdict = verdicts[finding.id]
        alike = sum(_sign(one) == _sign(verdict) for one in verdicts.values())
        moved = replace(judged, finding=finding)
        stays = None if stands is None else significant[finding.id]
        in_part = holds_in_part(verdict, list(verdicts.values()))
        found.append(Row(in_words()[claim], moved, verdict, stays, alike, len(statements), in_part))
    return found


def holds_in_part(lead: str, verdicts: Sequence[str]) -> bool:
    """Whether the ``lead`` of a claim supports it and another of its ``verdicts`` is against it."""
    return lead in _FOR and any(verdict in _AGAINST for verdict in verdicts)


def _verdict(statement: Statement, finding: judging.Finding, word: Word | None) -> str:
    """The verdict on a statement, with the reader's word if there is one."""
    if word is None or finding.verdict in _FIXED:
        return finding.verdict
    said = str(word(float(finding.low), float(finding.high), float(finding.margin)))
    return _EXPECTED[statement.expect].get(said, said)


def _sign(verdict: str) -> str:
    """The sign before a verdict, such as "✓" for "holds" and "confirmed"."""
    return shown.WORDS[verdict][0]


def all_claims(
    word: Word | None = None, stands: Stands | None = None, only: Sequence[str] = ()
) -> Idea:
    """A mark and a word for each claim. The slider ``factor`` multiplies all planned margins.

    ``word`` and ``stands``: the reader's functions, which give the words and leave a mark open
    where it is not significant among all statements; by default the stored rules, uncorrected.
    ``only``: the identifiers of the claims, by default all.
    """
    tip = _("Every δ is multiplied by this; 1 is the plan")
    factors = slider(_("all δ, times"), FACTORS, 1.0, tip)
    goal = _goal_of_few() if only else _goal_of_all()

    def draw(factor: float) -> go.Figure:
        functions = [one for one in (word, stands) if one is not None]
        whose = own.whose(*functions) if functions else ""
        return _figure(factor, rows(factor, word, stands, only), whose)

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
    figure = new_figure(
        title=title.format(factor=factor, whose=whose),
        x_title=_(
            "mean and 95 % interval, divided by the planned δ (linear near 0, then logarithmic)"
        ),
        y_title="",
        height=110 + _ROW * len(found),
        legend=False,
    )
    ends = shown.bend(factor)
    grey = rgba(GREY, 0.16)
    figure.add_vrect(x0=-ends, x1=ends, fillcolor=grey, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    for place, row in enumerate(found):
        _add_mark(figure, place, row)
    _set_axes(figure, found)
    _describe(figure, factor, found, whose)
    return figure


def _set_axes(figure: go.Figure, found: Sequence[Row]) -> None:
    """Label the margins below the figure and the claims on its left."""
    edge = shown.bend(shown.MOST)
    ticks = {shown.bend(tick): text for tick, text in _TICKS.items()}
    if any(_places(row)[0] == edge for row in found):
        ticks[edge] = "δ = 0"
    figure.update_xaxes(
        tickvals=list(ticks), ticktext=list(ticks.values()), range=[-0.55, 1.06 * edge], tickangle=0
    )
    figure.update_yaxes(
        tickvals=list(range(len(found))),
        ticktext=["<br>".join(textwrap.wrap(_name(row), _WRAP)) for row in found],
        tickfont={"color": INK, "size": 12},
        range=[len(found) - 0.5, -0.5],
        automargin=True,
        ticks="",
        showline=False,
    )
    figure.update_layout(margin_r=150)


def _name(row: Row) -> str:
    """The words for a claim, with † if the statement was not fixed before its data."""
    return f"{row.words} †" if plans.deviation(row.judged.statement) else row.words


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


def _add_mark(figure: go.Figure, place: int, row: Row) -> None:
    """Add the mean and interval of a claim in planned margins, and its word on the right."""
    colour, symbol = forest.LOOKS[row.verdict]
    colour = VERDICTS["other"] if row.in_part else colour
    middle, low, high = _places(row)
    hover = f"{row.judged.statement.sentence}<br>{shown.interval(row.judged)}"
    is_open = row.significant is False and row.verdict not in judging.OPEN
    figure.add_scatter(
        x=[middle],
        y=[place],
        mode="markers",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - middle],
            "arrayminus": [middle - low],
            "thickness": 2,
            "width": 4,
            "color": colour,
        },
        marker={"color": colour, "symbol": f"{symbol}-open" if is_open else symbol, "size": 10},
        hovertemplate=f"{hover}<extra></extra>",
    )
    add_word(figure, place, f"<b>{_said(row, broken=True)}</b>", colour)


def add_word(figure: go.Figure, place: int, text: str, colour: str) -> None:
    """Write the word of an interval on the right of its row."""
    figure.add_annotation(
        x=1,
        xref="paper",
        xshift=6,
        y=place,
        xanchor="left",
        align="left",
        text=text,
        font={"color": colour, "size": 12},
        showarrow=False,
    )


def _said(row: Row, *, broken: bool = False) -> str:
    """The word of a claim with its sign, how many of its statements have the sign of its lead, such
    as "✓ holds 3 of 3" or "◐ in part 3 of 8", and whether it is uncorrected. ``broken``: with a
    new line before that.
    """
    text = {"higher": _("▲ higher"), "lower": _("▼ lower"), "equivalent": _("≈ equivalent")}
    said = text.get(row.verdict, shown.WORDS[row.verdict])
    said = IN_PART if row.in_part else said
    if row.many > 1:
        said = _("{said} {alike} of {many}").format(said=said, alike=row.alike, many=row.many)
    is_open = row.significant is False and row.verdict not in judging.OPEN
    marked = _("{said},<br>uncorrected") if broken else _("{said}, uncorrected")
    return marked.format(said=said) if is_open else said


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
        "{when}: {phrases}. A mark is a mean, a bar its 95 % interval, and the grey band the "
        "margin."
    ).format(when=when.format(count=len(found), factor=factor, whose=whose), phrases=phrases)
    table = [
        [_name(row), _said(row), _measured(row), f"{row.judged.finding.margin:g}"] for row in found
    ]
    columns = [_("claim"), _("verdict"), _("mean and interval"), "δ"]
    set_description(figure, text, columns, table)
