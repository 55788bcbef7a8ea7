"""Evidence in a notebook: stored verdicts, with data for the harness."""

import html
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_core.plots.colours import VERDICTS
from fedlab_course import chapter, display
from fedlab_course.evidence import configs, judging, plans
from fedlab_course.evidence.judging import JudgedStatement

_ = translator(__name__)

STORED = "application/vnd.fedlab.stored-verdict+json"
WORDS = {
    "holds": _("✓ holds"),
    "opposite": _("✗ opposite"),
    "equivalent": _("≈ equivalent within δ"),
    "confirmed": _("✓ confirmed"),
    "refuted": _("✗ refuted"),
    "higher": _("▲ higher, perhaps by less than δ"),
    "lower": _("▼ lower, perhaps by less than δ"),
    "undecided": _("? undecided"),
    "diverged": _("! diverged"),
    "not tested": _("– not tested"),
    "not measured": _("– not measured yet"),
}
KEY = {  # verdict → what it means, as HTML
    "holds": _("<b>holds</b>: the whole interval is on the stated side, by more than δ"),
    "opposite": _("<b>opposite</b>: the whole interval is on the other side, by more than δ"),
    "equivalent": _("<b>equivalent</b>: the whole interval is within ±δ"),
    "confirmed": _(
        "<b>confirmed</b>: as stated, the interval is within ±δ (“equal”) or outside it "
        "(“different”)"
    ),
    "refuted": _(
        "<b>refuted</b>: “equal” was stated and the interval is outside ±δ, or “different” and it "
        "is within"
    ),
    "undecided": _(
        "<b>undecided</b>: the interval contains 0 (or the target), and also δ or −δ beside it"
    ),
    "diverged": _("<b>diverged</b>: some of the runs have no finite result"),
}
MEASURES = {  # column of the tables → its name, where it is not clear from the column
    "end_accuracy": _("end accuracy"),
    "accuracy_at_bytes": _("accuracy at bytes"),
    "accuracy_at_updates": _("accuracy at updates"),
    "start_accuracy": _("start accuracy"),
    "test_accuracy": _("test accuracy"),
    "mean_accuracy": _("mean accuracy"),
    "slow_accuracy": _("slow accuracy"),
    "fast_accuracy": _("fast accuracy"),
    "accuracy": _("accuracy"),
    "end_loss": _("end loss"),
    "train_loss": _("train loss"),
    "mean_loss": _("mean loss"),
    "roughness": _("roughness"),
    "loss_roughness": _("loss roughness"),
    "adjusted_rand": _("adjusted rand"),
    "megabytes_to_80": _("megabytes to 80"),
    "rounds_to_target": _("rounds to target"),
    "rounds_to_gap": _("rounds to gap"),
    "worst_decile": _("worst decile"),
    "drift": _("drift"),
    "variance": _("variance"),
    "dissimilarity": _("dissimilarity"),
    "divergence": _("divergence"),
    "gap": _("gap"),
    "ratio": _("ratio"),
    "clusters": _("clusters"),
    "precision": _("precision"),
    "recall": _("recall"),
    "bytes": _("bytes"),
    "distance": _("distance"),
    "best_steps": _("best steps"),
    "inclusion_error": _("inclusion error"),
}
_NUMBERS = ("mean", "low", "high")
_POINTS = 100  # percentage points of an accuracy of 1
_UNSHOWN = _("nothing shows that δ came before the data")
MOST = 400.0  # margins: the end of the axis of forest plots
_LEAST_AXIS = 3.0  # margins: the shortest axis of an interval in a table
_BEYOND = 1.05  # the axis goes on beyond the interval by this factor
_STYLE = (
    ".fedlab-evidence{margin:.6em 0}.fedlab-evidence table{border-collapse:collapse;width:100%}"
    ".fedlab-evidence :is(th,td){text-align:left;padding:.25em "
    ".6em;vertical-align:top;white-space:normal}.fedlab-evidence "
    f"td:is(:nth-child(1),:nth-child(4)){{white-space:nowrap}}.fedlab-evidence "
    f"th{{font-weight:normal}}.fedlab-evidence .good{{border-left:4px solid "
    f"{VERDICTS['good']}}}.fedlab-evidence .mixed{{border-left:4px solid "
    f"{VERDICTS['mixed']}}}.fedlab-evidence .open{{border-left:4px solid "
    f"{VERDICTS['open']}}}.fedlab-evidence :is(details,.key){{font-size:.9em}}"
)


def stored(*ids: str, more: Sequence[str] = ()) -> None:
    """Show the stored verdicts on the statements ``ids``, such as "002-1a", as one small table.

    A row has the verdict, the statement, a bar for the interval beside the band ±δ, and the
    numbers. Seeds, margins and the places in ``results`` are in a fold, "Evidence for this
    section", together with the statements ``more``. Raises ``ValueError`` that names the nearest id
    for an unknown one.
    """
    every = judging.every()
    changed = chapter.differs()
    shown, folded = (
        [every[validation.choice("id", id, every)] for id in group] for group in (ids, more)
    )
    data = {STORED: [as_data(judged) | {"differs": changed} for judged in (*shown, *folded)]}
    lines = [line for judged in (*shown, *folded) for line in _lines(judged, changed)]
    plain = []
    for judged in shown:
        word = WORDS[judged.finding.verdict]
        said = _("{word} (stored): {says}").format(word=word, says=judged.statement.sentence)
        plain.append(display.sentences(said, *_lines(judged, changed)))
    below = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    summary = _("Evidence for this section")
    fold = f"<details><summary>{summary}</summary>{_table(folded)}{below}</details>"
    page = f'<style>{_STYLE}</style><div class="fedlab-evidence">{_table(shown)}{fold}</div>'
    display.publish({**data, "text/html": page, "text/plain": "\n".join(plain)})


def _table(judged: Sequence[JudgedStatement]) -> str:
    if not judged:
        return ""
    rows = ""
    for row in judged:
        word = WORDS[row.finding.verdict]
        says = html.escape(row.statement.sentence) + _mark(row)
        rows += f'<tr><td class="{display.edge(word)}"><strong>{word}</strong></td><td>{says}</td>'
        rows += f"<td>{_bar(row)}</td><td>{measured(row)}{_chance(row)}</td></tr>"
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in (
            _("verdict"),
            _("statement"),
            _("interval, grey: ±δ, own scale in each row"),
            _("mean [95 % interval]"),
        )
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return table + _key(judged)


def _mark(judged: JudgedStatement) -> str:
    """The mark of the plan of a statement, with what it says, or ""."""
    mark = plans.mark(judged.statement)
    says = html.escape(plans.deviation(judged.statement) or _UNSHOWN)
    return f' <abbr title="{says}">{mark}</abbr>' if mark else ""


def _key(judged: Sequence[JudgedStatement]) -> str:
    """What the verdict words of a table mean, in one line; words that explain themselves have no
    entry.
    """
    there = {row.finding.verdict for row in judged}
    meanings = _("; ").join(KEY[word] for word in KEY if word in there)
    sentence = _("{meanings}.").format(meanings=meanings)
    return f'<p class="key">{sentence}</p>' if meanings else ""


def _chance(judged: JudgedStatement) -> str:
    """A remark on a verdict that Holm's correction does not keep, or nothing."""
    alone = (
        judged.finding.n
        and not judged.finding.corrected
        and judged.finding.verdict not in judging.OPEN
    )
    words = _("not kept after Holm's correction (chapter 14)")
    return f"<br><small>{words}</small>" if alone else ""


def _bar(judged: JudgedStatement) -> str:
    """A picture of the interval: the band ±δ, zero, the interval and its mean. The axis is linear,
    and it is as long as this row needs: at least 3 δ on both sides.
    """
    if not judged.finding.n or not judged.finding.margin:
        return ""
    places = _margins(judged)
    most = max(_LEAST_AXIS, *(_BEYOND * abs(value) for value in places))  # in margins
    middle, low, high = (70 + 70 * value / most for value in places)
    band = max(70 / most, 0.5)  # pixels
    return (
        '<svg viewBox="0 0 140 16" width="140" height="16" aria-hidden="true" '
        f'stroke="currentColor"><rect x="{70 - band:.1f}" width="{2 * band:.1f}" height="16" '
        'fill="#7A7A7A66" stroke="none"/><path d="M70 0v16" stroke-dasharray="2 2" '
        f'stroke-width=".7"/><path d="M{low:.1f} 8H{high:.1f}" stroke-width="2"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="3.2" fill="currentColor"/></svg>'
    )


def _margins(judged: JudgedStatement) -> list[float]:
    """The mean and the ends of its interval in margins; an interval that is not finite is its
    mean.
    """
    finding = judged.finding
    values = [
        finding.mean,
        *(end if math.isfinite(end) else finding.mean for end in (finding.low, finding.high)),
    ]
    return [
        value / finding.margin if finding.margin else math.copysign(math.inf, value)
        for value in values
    ]


def in_margins(judged: JudgedStatement) -> list[float]:
    """Places of the mean and the ends of its interval on the axis of a forest plot."""
    return [bend(value) for value in _margins(judged)]


def bend(value: float) -> float:
    """Margins → place on an axis from −1 to 1 that is logarithmic on both sides and ends at
    ``MOST`` margins.
    """
    return math.copysign(math.log1p(min(abs(value), MOST)) / math.log1p(MOST), value)


def as_data(judged: JudgedStatement) -> dict[str, Any]:
    """A stored verdict as JSON can hold it; numbers that are not finite are None."""
    data = asdict(judged.finding)
    for name in _NUMBERS:
        if not math.isfinite(data[name]):
            data[name] = None
    words = {
        "claim": judged.statement.sentence,
        "evidence": _("{measured}, {seeds}").format(measured=measured(judged), seeds=seeds(judged)),
        "source": judged.claim.source,
    }
    return data | words | {"examined": judged.examined, "differs": ""}


def interval(judged: JudgedStatement) -> str:
    """Mean and 95 % interval: of an accuracy "+3.2 [+2.9, +3.4] points", else "+0.0319 [+0.0287,
    +0.0350]".
    """
    finding = judged.finding
    if not finding.n:
        return ""
    values = [getattr(finding, name) for name in _NUMBERS]
    if is_accuracy(judged):
        digits = 2 if _POINTS * abs(finding.mean) < 1 else 1
        shown = [f"{_POINTS * value:+.{digits}f}" for value in values]
        line = _("{mean} points") if _is_one_number(judged) else _("{mean} [{low}, {high}] points")
    else:
        shown = [number(value) for value in values]
        line = "{mean}" if _is_one_number(judged) else "{mean} [{low}, {high}]"
    return line.format(**dict(zip(_NUMBERS, shown, strict=True)))


def is_accuracy(judged: JudgedStatement) -> bool:
    """Whether the number of a statement is an accuracy or a difference of accuracies."""
    return "accuracy" in judged.statement.measure


def _is_one_number(judged: JudgedStatement) -> bool:
    return judged.statement.exact or judged.finding.n == 1


def margin(judged: JudgedStatement) -> str:
    """The δ of a statement, of an accuracy in points."""
    delta = judged.finding.margin
    if not is_accuracy(judged):
        return f"{delta:g}"
    points = f"{_POINTS * delta:g}"
    return _("1 point") if points == "1" else _("{delta} points").format(delta=points)


def measured(judged: JudgedStatement) -> str:
    """:func:`interval`, or for a statement with a target the measured value and the target:
    "0.175 [0.134, 0.215], target 0.5", of an accuracy in percent, of a difference in points.

    The mean of a finding is the excess over the target. A statement that a value is below it
    subtracts the value, so its ends change places.
    """
    statement = judged.statement
    if not statement.constant or not judged.finding.n:
        return interval(judged)
    sign = 1 if statement.plus else -1
    scale = _POINTS if is_accuracy(judged) else 1
    excess = [getattr(judged.finding, name) for name in _NUMBERS]
    mean, *ends = (scale * sign * (value + statement.constant) for value in excess)
    shown = _value(mean)
    if not _is_one_number(judged):
        low, high = sorted(ends)
        shown += f" [{_value(low)}, {_value(high)}]"
    line = _("{value}, target {target}")
    if is_accuracy(judged):
        line = _("{value} %, target {target} %")
        if statement.plus and statement.minus:
            line = _("{value} points, target {target} points")
    return line.format(value=shown, target=_value(scale * sign * statement.constant))


def _value(value: float) -> str:
    """A measured value without a plus sign: three significant digits, and one decimal from 100
    on.
    """
    clean = round(value, 12) + 0.0  # no remainder of a subtraction, no "-0"
    return f"{clean:.3g}" if abs(clean) < 100 else f"{clean:,.1f}"


def number(value: float) -> str:
    """A difference with its sign: four decimals, and one from ten on."""
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+,.1f}"


def seeds(judged: JudgedStatement) -> str:
    """How many seeds there are, of how many planned if some are missing."""
    finding = judged.finding
    if finding.n < finding.planned:
        return _("{count} of {planned} planned seeds").format(
            count=finding.n, planned=finding.planned
        )
    return _("1 seed") if finding.n == 1 else _("{count} seeds").format(count=finding.n)


def _lines(judged: JudgedStatement, differs: str) -> list[str]:
    """The numbers and their row, and if need be that they belong to another setting."""
    deviates = plans.deviation(judged.statement)
    lines = [_of_row(judged)]
    if deviates:
        lines.append(_("The plan of this statement was {deviation}.").format(deviation=deviates))
    if differs:
        default = _("This verdict belongs to the default setting; this run has {settings}.")
        lines.append(default.format(settings=differs))
    return lines


def _of_row(judged: JudgedStatement) -> str:
    """The numbers of a statement, and its row in the reports."""
    finding = judged.finding
    about = finding.about
    if not about and finding.verdict not in judging.OPEN:
        among = _("not kept among all {count} examined (Holm)")
        if finding.corrected:
            among = _("kept among all {count} examined (Holm)")
        about = among.format(count=judged.examined)
    numbers = _("no runs yet")
    if finding.n:
        measure = MEASURES.get(judged.statement.measure)
        numbers = _("{measure}: {value}").format(
            measure=measure or judged.statement.measure.replace("_", " "), value=measured(judged)
        )
    report = f"claims/{configs.source_of(judged.claim.id)}.md"
    if configs.is_course(judged.claim.id):
        report = "COURSE.md"
    line = _("{numbers}, δ = {margin}, {seeds}. Row {id} of results/{report}, {source}.")
    if about:
        line = _(
            "{numbers}, δ = {margin}, {seeds}, {about}. Row {id} of results/{report}, {source}."
        )
    return line.format(
        numbers=numbers,
        margin=margin(judged),
        seeds=seeds(judged),
        about=about,
        id=finding.id,
        report=report,
        source=judged.claim.source,
    )
