"""Evidence in a notebook: stored verdicts, with data for the harness."""

import html
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fedlab_core import validation
from fedlab_course import chapter, display
from fedlab_course.evidence import configs, judging, plans
from fedlab_course.evidence.judging import Judged

STORED = "application/vnd.fedlab.stored-verdict+json"
WORDS = {
    "holds": "✓ holds",
    "opposite": "✗ opposite",
    "equivalent": "≈ equivalent within δ",
    "confirmed": "✓ confirmed",
    "refuted": "✗ refuted",
    "higher": "▲ higher, perhaps by less than δ",
    "lower": "▼ lower, perhaps by less than δ",
    "undecided": "? undecided",
    "diverged": "! diverged",
    "not tested": "– not tested",
    "not measured": "– not measured yet",
}
_NUMBERS = ("mean", "low", "high")
MOST = 400.0  # margins: the end of the axis of intervals
_STYLE = (
    ".fedlab-evidence{margin:.6em 0}.fedlab-evidence table{border-collapse:collapse;width:100%}"
    ".fedlab-evidence :is(th,td){text-align:left;padding:.25em .6em;vertical-align:top;white-space:normal}"
    ".fedlab-evidence td:is(:nth-child(1),:nth-child(4)){white-space:nowrap}.fedlab-evidence th{font-weight:normal}"
    f".fedlab-evidence .good{{border-left:4px solid {display.GOOD}}}.fedlab-evidence .mixed{{border-left:4px solid"
    f" {display.MIXED}}}.fedlab-evidence .open{{border-left:4px solid {display.OPEN}}}"
    ".fedlab-evidence details{font-size:.9em}"
)


def stored(*ids: str, more: Sequence[str] = ()) -> None:
    """Show the stored verdicts on the statements ``ids``, such as "002-1a", as one small table.

    A row has the verdict, the statement, a bar for the interval beside the band ±δ, and the numbers. Seeds, margins and
    the places in ``results`` are in a fold, "Evidence for this section", together with the statements ``more``. Raises
    ``ValueError`` that names the nearest id for an unknown one.
    """
    every, changed = judging.every(), chapter.differs()
    shown, folded = ([every[validation.choice("id", id, every)] for id in group] for group in (ids, more))
    data = {STORED: [as_data(one) | {"differs": changed} for one in (*shown, *folded)]}
    lines = [line for one in (*shown, *folded) for line in _lines(one, changed)]
    plain = [
        f"{WORDS[one.finding.verdict]} (stored): {one.statement.says} {' '.join(_lines(one, changed))}" for one in shown
    ]
    below = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    fold = f"<details><summary>Evidence for this section</summary>{_table(folded)}{below}</details>"
    page = f'<style>{_STYLE}</style><div class="fedlab-evidence">{_table(shown)}{fold}</div>'
    display.publish({**data, "text/html": page, "text/plain": "\n".join(plain)})


def _table(judged: Sequence[Judged]) -> str:
    if not judged:
        return ""
    most = max([3.0, *(1.2 * abs(value) for one in judged for value in _margins(one) if one.finding.margin)])
    rows = ""
    for one in judged:
        word, says = WORDS[one.finding.verdict], html.escape(one.statement.says)
        rows += f'<tr><td class="{display.edge(word)}"><strong>{word}</strong></td><td>{says}</td>'
        rows += f"<td>{_bar(one, most)}</td><td>{interval(one)}{_chance(one)}</td></tr>"
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("verdict", "statement", "interval, grey: ±δ", "mean"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _chance(one: Judged) -> str:
    """A remark on a verdict that is not significant after Holm's correction, or nothing."""
    alone = one.finding.n and not one.finding.corrected and one.finding.verdict not in judging.OPEN
    return "<br><small>not significant after Holm correction</small>" if alone else ""


def _bar(one: Judged, most: float) -> str:
    """A picture of the interval on an axis of margins up to ``most``: the band ±δ, zero, the interval and its mean."""
    if not one.finding.n or not one.finding.margin:
        return ""
    middle, low, high = (70 + 68 * bend(value, most) for value in _margins(one))
    band = 68 * bend(1.0, most)
    return (
        f'<svg viewBox="0 0 140 16" width="140" height="16" aria-hidden="true" stroke="currentColor">'
        f'<rect x="{70 - band:.1f}" width="{2 * band:.1f}" height="16" fill="#7A7A7A66" stroke="none"/>'
        f'<path d="M70 0v16" stroke-dasharray="2 2" stroke-width=".7"/>'
        f'<path d="M{low:.1f} 8H{high:.1f}" stroke-width="2"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="3.2" fill="currentColor"/></svg>'
    )


def _margins(one: Judged) -> list[float]:
    """The mean and the ends of its interval in margins; an interval that is not finite is its mean."""
    found = one.finding
    values = [found.mean, *(end if math.isfinite(end) else found.mean for end in (found.low, found.high))]
    return [value / found.margin if found.margin else math.copysign(math.inf, value) for value in values]


def in_margins(one: Judged) -> list[float]:
    """Places of the mean and the ends of its interval on the axis of a forest plot."""
    return [bend(value) for value in _margins(one)]


def bend(value: float, most: float = MOST) -> float:
    """Margins → place on an axis from −1 to 1 that is logarithmic on both sides and ends at ``most`` margins."""
    return math.copysign(math.log1p(min(abs(value), most)) / math.log1p(most), value)


def as_data(one: Judged) -> dict[str, Any]:
    """A stored verdict as JSON can hold it; numbers that are not finite are None."""
    data = asdict(one.finding)
    data |= {name: value if math.isfinite(value) else None for name, value in data.items() if name in _NUMBERS}
    words = {"claim": one.statement.says, "evidence": f"{interval(one)}, {seeds(one)}", "source": one.claim.source}
    return data | words | {"examined": one.examined, "differs": ""}


def interval(one: Judged) -> str:
    """Mean and 95 % interval, "+0.0319 [+0.0287, +0.0350]"."""
    if not one.finding.n:
        return ""
    mean, low, high = (number(getattr(one.finding, name)) for name in _NUMBERS)
    return mean if one.statement.exact or one.finding.n == 1 else f"{mean} [{low}, {high}]"


def number(value: float) -> str:
    """A difference with its sign: four decimals, and one from ten on."""
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+,.1f}"


def seeds(one: Judged) -> str:
    """How many seeds there are, of how many planned if some are missing."""
    found = one.finding
    if found.n < found.planned:
        return f"{found.n} of {found.planned} planned seeds"
    return f"{found.n} seed{'' if found.n == 1 else 's'}"


def _lines(one: Judged, differs: str) -> list[str]:
    """The numbers and their row, and if need be that they belong to another setting."""
    found, after = one.finding, ""
    if found.about:
        after = f", {found.about}"
    elif found.verdict not in judging.OPEN:
        after = f", {'' if found.corrected else 'not '}significant among all {one.examined} examined (Holm)"
    about = f"{one.statement.measure.replace('_', ' ')}: {interval(one)}" if found.n else "no runs yet"
    report = "COURSE.md" if configs.is_course(one.claim.id) else f"claims/{configs.source_of(one.claim.id)}.md"
    where = f"Row {found.id} of results/{report}, {one.claim.source}."
    deviates = plans.deviation(one.statement)
    lines = [f"{about}, margin δ = {found.margin:g}, {seeds(one)}{after}. {where}"]
    lines += [f"The plan of this statement was {deviates}."] if deviates else []
    return lines + ([f"This verdict belongs to the default setting; this run has {differs}."] if differs else [])
