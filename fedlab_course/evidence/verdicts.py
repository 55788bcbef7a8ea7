"""From paired numbers to a verdict: holds, opposite, equivalent within δ, undecided."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from fedlab_core.compare import t_interval

LEVEL = 0.95
VERDICTS = ("holds", "opposite", "equivalent", "undecided")


@dataclass(frozen=True)
class Verdict:
    """What ``n`` paired numbers say about a statement: their ``mean``, and the 95 % interval from ``low`` to ``high``.

    ``p``: how probable numbers at least as clear would be at the edge of what the verdict says, one-sided.
    ``corrected``: whether the verdict also stands among all that were examined (Holm 1979). ``planned``: how many
    seeds were to be run.
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

    @property
    def word(self) -> str:
        """The verdict, or that there is none yet."""
        return self.verdict if self.n else "not measured"

    @property
    def complete(self) -> bool:
        """Whether all seeds that were planned are there."""
        return self.n >= self.planned


def judge(
    id: str, values: Sequence[float], margin: float, *, expect: str, planned: int, exact: bool = False
) -> Verdict:
    """The verdict on ``values``, one per seed, with t-intervals.

    ``expect`` "positive": **holds** if the interval lies above δ = ``margin``, **opposite** if it lies below −δ,
    **equivalent** if it lies within ±δ, and else **undecided**. "zero": **holds** if it lies within ±δ, **opposite** if
    it lies outside. One value decides only where there is no chance (``exact``).
    """
    numbers = np.asarray(values, dtype=float)
    n = len(numbers)
    if n == 0 or (n == 1 and not exact):
        mean = float(numbers.mean()) if n else math.nan
        return Verdict(id, "undecided", mean, -math.inf, math.inf, n, planned, margin, 1.0)
    mean = low = high = float(numbers.mean())
    error = 0.0
    if n > 1:
        found = t_interval(numbers, LEVEL)
        low, high, error = found.low, found.high, float(numbers.std(ddof=1) / math.sqrt(n))
    above, below, within = low > margin, high < -margin, -margin <= low and high <= margin
    if expect == "zero":
        verdict = "holds" if within else "opposite" if above or below else "undecided"
    else:
        verdict = "holds" if above else "opposite" if below else "equivalent" if within else "undecided"
    outside = _tail(margin - abs(mean), error, n)
    inside = max(_tail(mean - margin, error, n), _tail(-margin - mean, error, n))
    p = {True: inside, False: outside}[within] if verdict != "undecided" else 1.0
    return Verdict(id, verdict, mean, low, high, n, planned, margin, p)


def _tail(distance: float, error: float, n: int) -> float:
    """P(t > −distance / error): small if ``distance`` is far below zero."""
    if error == 0:
        return 0.0 if distance <= 0 else 1.0
    return float(stats.t.sf(-distance / error, n - 1))


def corrected(verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """The same verdicts, each with the answer whether it stands among all of them: Holm's step-down at 2.5 % a side."""
    level, stands, found = (1 - LEVEL) / 2, True, dict(verdicts)
    ordered = sorted(verdicts.values(), key=lambda one: one.p)
    for rank, one in enumerate(ordered):
        stands = stands and one.p <= level / (len(ordered) - rank)
        found[one.id] = replace(one, corrected=stands)
    return found
