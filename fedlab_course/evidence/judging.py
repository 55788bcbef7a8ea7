"""From paired numbers to verdicts, and the verdicts on all stored statements."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import special

from fedlab_core.compare import t_interval
from fedlab_course.evidence import configs, tables
from fedlab_course.evidence.configs import Claim, Statement

LEVEL = 0.95
ASKED = ("holds", "opposite", "equivalent")  # of a statement that expects a positive number
EQUAL = ("confirmed", "refuted")  # of a statement that expects zero, or any other number
SIGNS = ("higher", "lower")  # than zero, perhaps by less than the margin
OPEN = ("undecided", "diverged", "not tested", "not measured")
VERDICTS = (*ASKED, *EQUAL, *SIGNS, *OPEN)


@dataclass(frozen=True)
class Finding:
    """The ``verdict`` of ``n`` paired numbers on a statement; their ``mean``, and its 95 % interval ``low`` … ``high``.

    ``p``: the one-sided p-value at the edge of the verdict. ``corrected``: whether the verdict is also significant
    after Holm's correction (1979) for all that were examined. ``planned``: how many seeds were planned. ``about``: the
    runs that diverged, or why the statement cannot be tested.
    """

    id: str
    verdict: str
    mean: float
    low: float
    high: float
    n: int
    planned: int
    margin: float
    p: float
    corrected: bool = False
    about: str = ""


@dataclass(frozen=True)
class Judged:
    """A statement, its claim, what was found, and how many statements were ``examined`` together."""

    claim: Claim
    statement: Statement
    finding: Finding
    examined: int


def judge(
    id: str, values: Sequence[float], margin: float, *, expect: str, planned: int, exact: bool = False
) -> Finding:
    """Judge ``values``, one per seed, by their t-interval and δ = ``margin``.

    ``expect`` "positive": **holds** if the interval is above δ, **opposite** if it is below −δ, **equivalent** if it is
    within ±δ. "zero": **confirmed** if it is within ±δ, **refuted** if it is above δ or below −δ. "nonzero": the
    reverse of "zero". For all: **higher** or **lower** if the interval contains δ or −δ but not zero, **undecided** if
    it contains zero and δ or −δ. One value decides only if it is ``exact``. Without values: **not measured**.
    """
    numbers = np.asarray(values, dtype=float)
    n = len(numbers)
    if n == 0:
        return Finding(id, "not measured", math.nan, -math.inf, math.inf, n, planned, margin, 1.0)
    mean = low = high = float(numbers.mean())
    error = 0.0
    if n == 1 and not exact:
        low, high = -math.inf, math.inf
    elif n > 1:
        interval = t_interval(numbers, LEVEL)
        low, high, error = interval.low, interval.high, float(numbers.std(ddof=1) / math.sqrt(n))
    if -margin <= low and high <= margin:
        verdict = {"zero": "confirmed", "nonzero": "refuted"}.get(expect, "equivalent")
        p = max(_tail(mean - margin, error, n), _tail(-margin - mean, error, n))
    elif low > margin or high < -margin:
        asked = "holds" if low > margin else "opposite"
        verdict = {"zero": "refuted", "nonzero": "confirmed"}.get(expect, asked)
        p = _tail(margin - abs(mean), error, n)
    elif low > 0 or high < 0:
        verdict, p = ("higher" if low > 0 else "lower"), _tail(-abs(mean), error, n)
    else:
        verdict, p = "undecided", 1.0
    return Finding(id, verdict, mean, low, high, n, planned, margin, p)


def _tail(distance: float, error: float, n: int) -> float:
    """P(t > −distance / error): small if ``distance`` is far below zero."""
    if error == 0:
        return 0.0 if distance <= 0 else 1.0
    return float(special.stdtr(n - 1, distance / error))


def corrected(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """Say of each whether it is significant among all of them: Holm's step-down at 2.5 % a side."""
    level, significant, found = (1 - LEVEL) / 2, True, dict(findings)
    ordered = sorted(findings.values(), key=lambda one: one.p)
    for rank, one in enumerate(ordered):
        significant = significant and one.p <= level / (len(ordered) - rank)
        found[one.id] = replace(one, corrected=significant)
    return found


def judged(claims: Sequence[Claim], folder: Path = tables.TABLES) -> dict[str, Judged]:
    """Judge all statements of ``claims``: id → result, in their order, corrected for how many there are."""
    found = {statement.id: (claim, statement) for claim in claims for statement in claim.statements}
    final = corrected({id: _finding(statement, folder) for id, (_, statement) in found.items()})
    return {id: Judged(claim, statement, final[id], len(found)) for id, (claim, statement) in found.items()}


@lru_cache(maxsize=1)
def stored() -> dict[str, Judged]:
    """The verdicts on the claims of the sources, in ``results/configs``."""
    return judged(configs.read())


@lru_cache(maxsize=1)
def course() -> dict[str, Judged]:
    """The verdicts on what the chapters say beyond the sources, a family of its own, in ``results/configs/course``."""
    return judged(configs.read(configs.COURSE))


def every() -> dict[str, Judged]:
    """Both families: :func:`stored` and :func:`course`."""
    return stored() | course()


def forget() -> None:
    """Judge again at the next call: the tables have changed."""
    tables.forget()
    stored.cache_clear()
    course.cache_clear()


def _finding(one: Statement, folder: Path) -> Finding:
    values = list(tables.numbers(one, folder).values())
    planned = 1 if one.exact else min(len(configs.seeds(table)) for _, table, _ in one.rows())
    found = judge(one.id, values, one.margin, expect=one.expect, planned=planned, exact=one.exact)
    if found.n and one.untested:
        return replace(found, verdict="not tested", p=1.0, about=one.untested)
    if found.n and (runs := tables.diverged(one, folder)):
        return replace(found, verdict="diverged", p=1.0, about=runs)
    return found
