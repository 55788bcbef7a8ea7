"""A stored verdict in a notebook: a box, a line of text, and data that the harness collects."""

import math
from dataclasses import asdict
from typing import Any

from fedlab_core import validation
from fedlab_course import chapter, display
from fedlab_course.evidence import judging
from fedlab_course.evidence.judging import Judged

STORED = "application/vnd.fedlab.stored-verdict+json"
WORDS = {
    "holds": "✓ holds",
    "opposite": "✗ opposite",
    "equivalent": "≈ equivalent within δ",
    "undecided": "? undecided",
    "not measured": "– not measured yet",
}
_NUMBERS = ("mean", "low", "high")


def stored(*ids: str) -> None:
    """Show the stored verdicts on the statements ``ids``, such as "002-1a", with their numbers and where they are.

    A verdict is "holds", "opposite", "equivalent within δ" or "undecided". More than two are a line each, with the
    details in a fold. Raises ``ValueError`` that names the nearest id for an unknown one.
    """
    every, changed = judging.every(), chapter.differs()
    for one in [every[validation.choice("id", id, every)] for id in ids]:
        found, beside = one.finding, "" if len(ids) > 2 else None
        if found.n and len(ids) > 2:
            chance = "" if found.corrected or found.verdict == "undecided" else ", not after correction"
            beside = f"{interval(one)}, n = {found.n}{chance}"
        data = {STORED: as_data(one) | {"differs": changed}}
        said = (f"{WORDS[found.verdict]} (stored)", one.statement.says, _lines(one, changed), data)
        display.publish(display.verdict("fedlab-verdict", *said, beside=beside))


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
    if found.verdict not in ("undecided", "not measured"):
        after = f", {'' if found.corrected else 'not '}significant among all {one.examined} examined (Holm)"
    about = f"{one.statement.measure.replace('_', ' ')}: {interval(one)}" if found.n else "no runs yet"
    report = "COURSE.md" if one.claim.id.isdecimal() else "REPRODUCTION.md"
    where = f"Row {found.id} of results/{report}, {one.claim.source}."
    lines = [f"{about}, margin δ = {found.margin:g}, {seeds(one)}{after}. {where}"]
    return lines + ([f"This verdict belongs to the default setting; this run has {differs}."] if differs else [])
