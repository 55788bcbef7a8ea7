"""From paired numbers to a verdict: holds, opposite, equivalent within δ, undecided."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from fedlab_core.compare import t_interval

LEVEL = 0.95
VERDICTS = ("holds", "opposite", "equivalent", "undecided")


@dataclass(frozen=True)
class Finding:
    """The ``verdict`` of ``n`` paired numbers on a statement; their ``mean``, and its 95 % interval ``low`` … ``high``.

    ``p``: the one-sided p-value at the edge of the verdict. ``corrected``: whether the verdict is also significant
    after Holm's correction (1979) for all that were examined. ``planned``: how many seeds were planned.
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


def judge(
    id: str, values: Sequence[float], margin: float, *, expect: str, planned: int, exact: bool = False
) -> Finding:
    """Judge ``values``, one per seed, by their t-interval.

    ``expect`` "positive": **holds** if the interval lies above δ = ``margin``, **opposite** if it lies below −δ,
    **equivalent** if it lies within ±δ, and else **undecided**. "zero": **holds** if it lies within ±δ, **opposite** if
    it lies outside. One value decides only if it is ``exact``. Without values it is **not measured**.
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
    within = -margin <= low and high <= margin
    if within:
        verdict = "holds" if expect == "zero" else "equivalent"
        p = max(_tail(mean - margin, error, n), _tail(-margin - mean, error, n))
    elif low > margin or high < -margin:
        verdict = "holds" if expect == "positive" and low > margin else "opposite"
        p = _tail(margin - abs(mean), error, n)
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
