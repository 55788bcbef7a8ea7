"""Judge random cohorts by counting: every client as often as it should be, and the same cohorts for
the same seed.

In R independent rounds the count of an event of probability p is binomial. A check of m counts lets
each lie where a right answer's count lies with probability 1 − ``FALSE_ALARM`` / m. So it turns a
right answer away with probability ``FALSE_ALARM`` at most, whatever the counts have to do with one
another.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from fedlab_core.language import translator
from fedlab_course.check.on_quadratics import drawn
from fedlab_course.check.tools import require, run_with

_ = translator(__name__)

ROUNDS = 2000
FALSE_ALARM = 1e-6
_FEW = 5  # rounds, to compare seeds

Cohorts = list[list[list[int]]]  # the clients of each cohort of each round


def cohorts_of(
    answer: Any, arguments: Sequence[Any], clients: int, changes: Mapping[str, Any]
) -> Cohorts:
    """The cohorts of many rounds of ``answer(*arguments)``; ``changes`` as in ``drawn``."""
    many = {"rounds": ROUNDS, **changes}
    cohorts: Cohorts = run_with(answer, drawn, arguments, clients, many)
    return cohorts


def require_stream(
    answer: Any, arguments: Sequence[Any], clients: int, changes: Mapping[str, Any], source: str
) -> None:
    """Raise a hint unless the seed of a run decides its cohorts. ``source``: of the random numbers,
    for the hint.
    """
    first, again, other = (
        run_with(answer, drawn, arguments, clients, {**changes, "rounds": _FEW, "seed": seed})
        for seed in (1, 1, 2)
    )
    require(
        first == again,
        _(
            "Two runs with the same seed draw different cohorts, so nobody can repeat your run. "
            "Draw with {source}."
        ).format(source=source),
    )
    require(
        first != other,
        _(
            "Runs with the seeds 1 and 2 draw the same cohorts. A generator of your own does not "
            "know the seed of the run: draw with {source}."
        ).format(source=source),
    )


def limits(rounds: int, probability: float, alarm: float) -> tuple[int, int]:
    """The smallest and the largest count that are no alarm: a binomial count is outside with
    probability ``alarm`` at most.
    """
    law = stats.binom(rounds, probability)
    return int(law.ppf(alarm / 2)), int(law.isf(alarm / 2))


def require_counts(counts: Sequence[int], probabilities: Sequence[float], hint: str) -> None:
    """Raise the ``hint`` unless each count of ``ROUNDS`` rounds fits its probability.

    In the hint ``{place}`` is the place of the first count that does not fit, ``{count}`` the
    count, and ``{expected}`` what is expected.
    """
    alarm = FALSE_ALARM / len(counts)
    for place, (count, probability) in enumerate(zip(counts, probabilities, strict=True)):
        low, high = limits(ROUNDS, probability, alarm)
        expected = round(ROUNDS * probability)
        require(low <= count <= high, hint.format(place=place, count=count, expected=expected))


def _presence(cohorts: Cohorts, clients: int) -> np.ndarray:
    """Which cohort has which client, 1 or 0 [number of cohorts, clients]."""
    every = [cohort for cohorts_of_round in cohorts for cohort in cohorts_of_round]
    rows = np.repeat(np.arange(len(every)), [len(cohort) for cohort in every])
    table = np.zeros((len(every), clients), dtype=int)
    table[rows, np.concatenate(every)] = 1
    return table


def counted(cohorts: Cohorts, clients: int) -> list[int]:
    """In how many cohorts each client is."""
    counts: list[int] = _presence(cohorts, clients).sum(axis=0).tolist()
    return counts


def require_meetings(cohorts: Cohorts, clients: int, members: Sequence[int], hint: str) -> None:
    """Raise the ``hint``, with ``{first}`` and ``{second}``, if two of the ``members`` are in no
    cohort together.

    Only for pairs that meet with probability 0.02 at least: one pair misses in all ``ROUNDS``
    rounds with a probability below 0.98^2000 < 3·10⁻¹⁸.
    """
    table = _presence(cohorts, clients)
    meetings = table.T @ table
    for first in members:
        for second in members:
            require(meetings[first, second] > 0, hint.format(first=first, second=second))
