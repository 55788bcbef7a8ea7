"""A stored verdict where a notebook speaks of it: a box, a line of text, and data that the harness collects."""

import html
import math
from typing import Any

from fedlab_core import validation
from fedlab_course import chapter
from fedlab_course.display import GOOD, MIXED, OPEN, box, publish
from fedlab_course.evidence import judging
from fedlab_course.evidence.judging import Judged
from fedlab_course.evidence.verdicts import VERDICTS

STORED = "application/vnd.fedlab.stored-verdict+json"
WORDS = {
    "holds": "✓ holds",
    "opposite": "✗ opposite",
    "equivalent": "≈ equivalent within δ",
    "undecided": "? undecided",
}
UNMEASURED = "– not measured yet"
_COLOURS = {"holds": GOOD, "opposite": MIXED}
_SHAPE = {"id": str, "claim": str, "verdict": str, "n": int, "planned": int, "margin": float, "corrected": bool}
_SHAPE |= {"examined": int, "source": str, "differs": str}
_NUMBERS = ("mean", "low", "high")


def stored(*ids: str, differs: str | None = None) -> None:
    """Show the stored verdicts on the statements ``ids``, such as "002-1a", with their numbers and where they lie.

    The word is one of "holds", "opposite", "equivalent within δ" and "undecided"; beside it stand the mean over seeds
    with its 95 % interval, the number of seeds of those planned, the margin δ, and whether the verdict stands among
    all that were examined. ``differs``: what this run of the notebook has other than by default, such as
    "dataset=mnist": the box then says that the verdict belongs to the default; None: what :mod:`fedlab_course.chapter`
    knows. More than two are shown in a line each, with margin, correction and source in a fold. Raises ``ValueError``
    that names the nearest id for an unknown one.
    """
    every = judging.every()
    for one in [every[validation.choice("id", id, every)] for id in ids]:
        _show(one, chapter.differs() if differs is None else str(differs), folded=len(ids) > 2)


def _show(one: Judged, differs: str, folded: bool) -> None:
    entry = as_data(one) | {"differs": differs}
    below = "".join(f'<div style="font-size: .9em">{html.escape(line)}</div>' for line in _in_short(entry, one))
    colour = _COLOURS.get(entry["verdict"], OPEN)
    if folded:
        hint = one.verdict.n and not one.verdict.corrected and one.verdict.verdict != "undecided"
        numbers = (
            f"{interval(one)}, n = {one.verdict.n}{', not after correction' if hint else ''}" if one.verdict.n else ""
        )
        shown = (
            f'<details class="fedlab-verdict" style="border-left: 4px solid {colour}; padding: 0 .8em; margin: .2em 0">'
            f"<summary><strong>{word(one)}</strong> · {html.escape(entry['claim'])} "
            f'<span style="font-size: .9em">{numbers}</span></summary>{below}</details>'
        )
    else:
        shown = box("fedlab-verdict", colour, f"{word(one)} · stored", entry["claim"], below)
    text = f"{word(one)} (stored): {entry['claim']} {'; '.join(_lines(entry, one))}"
    publish({STORED: entry, "text/html": shown, "text/plain": text})


def as_data(one: Judged) -> dict[str, Any]:
    """A stored verdict as JSON can hold it; numbers that are not finite are None."""
    verdict = one.verdict
    numbers = {name: float(getattr(verdict, name)) for name in _NUMBERS}
    return {
        "id": verdict.id,
        "claim": one.statement.says,
        "verdict": verdict.verdict,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
        "n": verdict.n,
        "planned": verdict.planned,
        "margin": float(verdict.margin),
        "corrected": verdict.corrected,
        "examined": one.examined,
        "source": one.claim.source,
        "differs": "",
    }


def unreadable(entry: Any) -> str | None:
    """What is wrong with an entry that does not come from :func:`stored`, or None."""
    whole = isinstance(entry, dict) and {*entry} == {*_SHAPE, *_NUMBERS}
    typed = whole and all(type(entry[key]) is kind for key, kind in _SHAPE.items())
    if typed and entry["verdict"] in VERDICTS and all(type(entry[key]) in (float, type(None)) for key in _NUMBERS):
        return None
    return f"a stored verdict must be what claims.stored shows, and it is {entry!r:.80}"


def word(one: Judged) -> str:
    """The verdict in a word or two, with its sign."""
    return WORDS[one.verdict.verdict] if one.verdict.n else UNMEASURED


def interval(one: Judged) -> str:
    """Mean and 95 % interval, "+0.0319 [+0.0287, +0.0350]"."""
    verdict = one.verdict
    if not verdict.n:
        return ""
    mean, low, high = (number(getattr(verdict, name)) for name in _NUMBERS)
    return mean if one.statement.exact or verdict.n == 1 else f"{mean} [{low}, {high}]"


def number(value: float) -> str:
    """A difference with its sign: four decimals, and one from ten on."""
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+,.1f}"


def seeds(one: Judged) -> str:
    """How many seeds there are, of how many planned if some are missing."""
    verdict = one.verdict
    if verdict.complete:
        return f"{verdict.n} seed{'' if verdict.n == 1 else 's'}"
    return f"{verdict.n} of {verdict.planned} planned seeds"


def _in_short(entry: dict[str, Any], one: Judged) -> list[str]:
    """:func:`_lines` for a box: the numbers and the row in one line."""
    numbers, _, *differs = _lines(entry, one)
    return [f"{numbers}. Row {entry['id']} of {one.report}, {entry['source']}", *differs]


def _lines(entry: dict[str, Any], one: Judged) -> list[str]:
    """The numbers, where they come from, and if need be that they belong to another setting."""
    stands = "stands" if entry["corrected"] else "does not stand"
    after = "" if one.verdict.verdict == "undecided" else f", {stands} among all {entry['examined']} examined (Holm)"
    about = f"{one.statement.measure.replace('_', ' ')}: {interval(one)}" if one.verdict.n else "no runs yet"
    lines = [
        f"{about}, margin δ = {entry['margin']:g}, {seeds(one)}{after}",
        f"Source: {entry['source']}. Row {entry['id']} of results/{one.report}.",
    ]
    if entry["differs"]:
        lines.append(f"This verdict belongs to the default setting; this run has {entry['differs']}.")
    return lines
