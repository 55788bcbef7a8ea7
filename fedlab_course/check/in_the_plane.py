"""Run an algorithm of a reader on quadratic clients with two parameters.

One parameter cannot tell an entry of a vector from its length: what acts on single entries and what
acts on whole vectors agree there.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fedlab_core.language import translator
from fedlab_core.simulation import Diverged
from fedlab_course.check.on_quadratics import LR, START, STEPS, by_round, start
from fedlab_course.check.tools import array, require, run_with

_ = translator(__name__)

Rounds = list[list[list[float]]]
TOLERANCE = 1e-6  # relative to 1 + size: an answer may add a small number to a length
Points = Sequence[Sequence[float]]
_NONE: Mapping[str, Any] = {}


def rounds_of(
    make: Callable[..., Any],
    arguments: Sequence[Any],
    a: Points,
    b: Points,
    changes: Mapping[str, Any] = _NONE,
) -> Rounds:
    """For each round of ``make(*arguments)`` the clients of its cohort, and w after it.

    ``a``, ``b`` and ``changes`` as in :func:`fedlab_course.check.on_quadratics.start`.
    """
    simulation = start(make(*arguments), a, b, changes)
    found: Rounds = []
    for _record in simulation:
        (cohort,) = simulation.cohorts
        w = simulation.state_dict()["params"].tolist()
        found.append([np.asarray(cohort, dtype=float).tolist(), w])
    return found


def moved_at_rest(make: Callable[..., Any], arguments: Sequence[Any], clients: int) -> float:
    """How far one round of ``make(*arguments)`` moves w in its first parameter if all ``clients``
    are at their optimum; NaN if w is not finite after it.
    """
    here = [[START, START]] * clients
    try:
        ((_cohort, w),) = rounds_of(make, arguments, [[1.0, 1.0]] * clients, here, {"rounds": 1})
    except Diverged:
        return math.nan
    return float(w[0]) - START


def shares(a: Points) -> np.ndarray:
    """The share of its way to b_k that each client goes in a round, for each entry [N, 2]."""
    return 1 - (1 - LR * np.asarray(a, dtype=float)) ** STEPS


def require_rounds(
    answer: Any,
    expected: Callable[[list[np.ndarray]], Sequence[np.ndarray]],
    hint: str,
    arguments: Sequence[Any],
    a: Points,
    b: Points,
    changes: Mapping[str, Any] = _NONE,
) -> None:
    """Raise the ``hint``, with both paths, unless :func:`rounds_of` of ``answer`` gives the path
    that ``expected`` computes from the cohorts.
    """
    found = run_with(answer, rounds_of, list(arguments), a, b, dict(changes))
    cohorts = [np.asarray(cohort, dtype=int) for cohort, _w in found]
    result = array([w for _cohort, w in found], (len(found), 2), _("the path of w"), finite=False)
    wanted = np.asarray(expected(cohorts), dtype=float)
    words = by_round(hint, wanted, result)
    agrees = np.allclose(result, wanted, rtol=TOLERANCE, atol=TOLERANCE)
    require(agrees, words)
