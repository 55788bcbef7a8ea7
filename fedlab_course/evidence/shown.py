"""Boxes in a notebook: stored verdicts, with data for the harness, and whether a live run is in their band."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course import chapter, display
from fedlab_course.evidence import configs, judging, plans, tables
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
WIDTH = 2.0  # standard deviations over seeds
# Share of the compared rounds that may leave the band. A run of the same law as five others is beyond two of their
# standard deviations from their mean in one round of seven: P(|t₄| > 2 / √1.2) = 0.14.
_ALLOWED = 0.2
_ROUNDING = 1e-5  # of a value: tables keep six digits


def stored(*ids: str) -> None:
    """Show the stored verdicts on the statements ``ids``, such as "002-1a", with their numbers and where they are.

    More than two are a line each, with the details in a fold. Raises ``ValueError`` that names the nearest id for an
    unknown one.
    """
    every, changed = judging.every(), chapter.differs()
    for one in [every[validation.choice("id", id, every)] for id in ids]:
        found, beside = one.finding, "" if len(ids) > 2 else None
        if found.n and len(ids) > 2:
            chance = "" if found.corrected or found.verdict in judging.OPEN else ", not after correction"
            beside = f"{interval(one)}, n = {found.n}{chance}"
        data = {STORED: as_data(one) | {"differs": changed}}
        said = (f"{WORDS[found.verdict]} (stored)", one.statement.says, _lines(one, changed), data)
        display.publish(display.verdict("fedlab-verdict", *said, beside=beside))


def band(
    live: History | Sequence[History],
    table: str,
    where: Mapping[str, Any],
    *,
    measure: str = "test_accuracy",
    name: str = "The live run",
) -> None:
    """Show whether ``live`` is inside the stored band: mean ± 2 standard deviations over seeds, round by round.

    ``table``: the sweep whose TABLE_curves.csv holds the band; ``where``: column → value of its rows. A run that leaves
    the band in more than a fifth of the common rounds is outside. Raises ``ValueError`` for a table or setting that is
    not there, several settings that fit, and runs that share no round with it.
    """
    validation.choice("measure", measure, ("test_accuracy", "train_loss"))
    curves = f"{table}_curves"
    stored = tables.matching(curves, where)
    if stored["round"].duplicated().any():
        raise ValueError(f"where={dict(where)}: fits several settings of {curves}; name further columns")
    runs = live if isinstance(live, Sequence) else [live]
    both = pd.concat([run.frame[["round", measure]].dropna() for run in runs]).merge(stored, on="round")
    if both.empty:
        first, *_, end = stored["round"]
        raise ValueError(f"live: has no round of the stored band of {table}, whose rounds are {first} … {end}")
    mean, spread = both[f"{measure}_mean"], WIDTH * both[f"{measure}_std"].fillna(0.0)
    count, outside = len(both), int(((both[measure] - mean).abs() > spread + _ROUNDING * mean.abs()).sum())
    leaves = outside > _ALLOWED * count
    place, agreeing = ("outside", outside) if leaves else ("inside", count - outside)
    last = both.sort_values("round").iloc[-1]
    text = (
        f"{name} is {place} the stored band in {agreeing} of {count} compared rounds: {measure.replace('_', ' ')}, "
        f"round {last['round']:.0f}: {last[measure]:.4g} live, {last[f'{measure}_mean']:.4g} ± "
        f"{WIDTH * last[f'{measure}_std']:.2g} stored ({last['n']:.0f} seeds, two standard deviations)."
    )
    display.publish(display.verdict("fedlab-band", f"{'✗' if leaves else '✓'} {place}", text))


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
    report = "COURSE.md" if one.claim.id.isdecimal() else f"claims/{configs.source_of(one.claim.id)}.md"
    where = f"Row {found.id} of results/{report}, {one.claim.source}."
    deviates = plans.deviation(one.statement)
    lines = [f"{about}, margin δ = {found.margin:g}, {seeds(one)}{after}. {where}"]
    lines += [f"The plan of this statement was {deviates}."] if deviates else []
    return lines + ([f"This verdict belongs to the default setting; this run has {differs}."] if differs else [])
