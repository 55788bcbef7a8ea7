"""From paired numbers to verdicts, and the verdicts on all stored statements."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import special

from fedlab_core.compare import t_interval
from fedlab_core.language import translator
from fedlab_course.evidence import configs, optima, tables
from fedlab_course.evidence.configs import Claim, Statement

_ = translator(__name__)

LEVEL = 0.95
ASKED = ("holds", "opposite", "equivalent")  # of a statement that expects a positive number
EQUAL = ("confirmed", "refuted")  # of a statement that expects zero, or any other number
SIGNS = ("higher", "lower")  # than zero, perhaps by less than the margin
OPEN = ("undecided", "diverged", "not tested", "not measured")
VERDICTS = (*ASKED, *EQUAL, *SIGNS, *OPEN)
NAMES = {  # verdict → its word for a reader
    "holds": _("holds"),
    "opposite": _("opposite"),
    "equivalent": _("equivalent"),
    "confirmed": _("confirmed"),
    "refuted": _("refuted"),
    "higher": _("higher"),
    "lower": _("lower"),
    "undecided": _("undecided"),
    "diverged": _("diverged"),
    "not tested": _("not tested"),
    "not measured": _("not measured"),
}


@dataclass(frozen=True)
class Finding:
    """The ``verdict`` of ``n`` paired numbers on a statement; their ``mean``, and its 95 % interval
    ``low`` … ``high``.

    ``p``: the one-sided p-value at the edge of the verdict. ``corrected``: whether the verdict is
    also significant after Holm's correction (1979) for all that were examined. ``planned``: how
    many seeds were planned. ``about``: the runs that diverged, or why the statement cannot be
    tested.
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
class JudgedStatement:
    """A statement, its claim, what was found, and how many statements were ``examined``
    together.
    """

    claim: Claim
    statement: Statement
    finding: Finding
    examined: int


def judge(
    id: str,
    values: Sequence[float],
    margin: float,
    *,
    expect: str,
    planned: int,
    exact: bool = False,
) -> Finding:
    """Judge ``values``, one per seed, by their t-interval and δ = ``margin``.

    ``expect`` "positive": **holds** if the interval is above δ, **opposite** if it is below −δ,
    **equivalent** if it is within ±δ. "zero": **confirmed** if it is within ±δ, **refuted** if it
    is above δ or below −δ. "nonzero": the reverse of "zero". For all: **higher** or **lower** if
    the interval contains δ or −δ but not zero, **undecided** if it contains zero and δ or −δ. One
    value decides only if it is ``exact``. Without values: **not measured**.
    """
    numbers = np.asarray(values, dtype=float)
    n = len(numbers)
    if n == 0:
        return Finding(id, "not measured", math.nan, -math.inf, math.inf, n, planned, margin, 1.0)
    mean = low = high = float(numbers.mean())
    error = 0.0
    if n == 1 and not exact:
        low = -math.inf
        high = math.inf
    elif n > 1:
        interval = t_interval(numbers, LEVEL)
        low = interval.low
        high = interval.high
        error = float(numbers.std(ddof=1) / math.sqrt(n))
    if -margin <= low and high <= margin:
        verdict = {"zero": "confirmed", "nonzero": "refuted"}.get(expect, "equivalent")
        p = max(_tail(mean - margin, error, n), _tail(-margin - mean, error, n))
    elif low > margin or high < -margin:
        asked = "holds" if low > margin else "opposite"
        verdict = {"zero": "refuted", "nonzero": "confirmed"}.get(expect, asked)
        p = _tail(margin - abs(mean), error, n)
    elif low > 0 or high < 0:
        verdict = "higher" if low > 0 else "lower"
        p = _tail(-abs(mean), error, n)
    else:
        verdict = "undecided"
        p = 1.0
    return Finding(id, verdict, mean, low, high, n, planned, margin, p)


def _tail(distance: float, error: float, n: int) -> float:
    """P(t > −distance / error): small if ``distance`` is far below zero."""
    if error == 0:
        return 0.0 if distance <= 0 else 1.0
    return float(special.stdtr(n - 1, distance / error))


def corrected(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """Say of each whether it is significant among all of them: Holm's step-down at 2.5 % a side."""
    level = (1 - LEVEL) / 2
    significant = True
    adjusted = dict(findings)
    ordered = sorted(findings.values(), key=lambda finding: finding.p)
    for rank, finding in enumerate(ordered):
        significant = significant and finding.p <= level / (len(ordered) - rank)
        adjusted[finding.id] = replace(finding, corrected=significant)
    return adjusted


def judged(claims: Sequence[Claim], folder: Path = tables.TABLES) -> dict[str, JudgedStatement]:
    """Judge all statements of ``claims``: id → result, in their order, corrected for how many there
    are.
    """
    sources = {
        statement.id: (claim, statement) for claim in claims for statement in claim.statements
    }
    final = corrected({id: _finding(statement, folder) for id, (_, statement) in sources.items()})
    return {
        id: JudgedStatement(claim, statement, final[id], len(sources))
        for id, (claim, statement) in sources.items()
    }


@lru_cache(maxsize=1)
def stored() -> dict[str, JudgedStatement]:
    """The verdicts on the claims of the sources, in ``results/configs``."""
    return judged(configs.read())


@lru_cache(maxsize=1)
def course() -> dict[str, JudgedStatement]:
    """The verdicts on what the chapters say beyond the sources, a family of its own, in
    ``results/configs/course``.
    """
    return judged(configs.read(configs.COURSE))


def every() -> dict[str, JudgedStatement]:
    """Both families: :func:`stored` and :func:`course`."""
    return stored() | course()


def forget() -> None:
    """Judge again at the next call: the tables have changed."""
    tables.forget()
    stored.cache_clear()
    course.cache_clear()


def _finding(statement: Statement, folder: Path) -> Finding:
    values = list(tables.numbers(statement, folder).values())
    planned = 1
    if not statement.exact:
        planned = min(len(configs.seeds(table)) for _, table, _ in statement.rows())
    finding = judge(
        statement.id,
        values,
        statement.margin,
        expect=statement.expect,
        planned=planned,
        exact=statement.exact,
    )
    if not finding.n:
        return finding
    untested = statement.untested or optima.not_located(statement, folder)
    if untested:
        return replace(finding, verdict="not tested", p=1.0, about=untested)
    diverged_runs = tables.diverged(statement, folder)
    if diverged_runs:
        return replace(finding, verdict="diverged", p=1.0, about=diverged_runs)
    return finding
