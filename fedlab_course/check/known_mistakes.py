"""Name the known mistakes that give exactly the wrong numbers of an answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedconform.diagnosis import smallest_sets
from fedlab_core.language import translator
from fedlab_course.check.base import Formula, Wrong
from fedlab_course.check.tools import close

_ = translator(__name__)

MOST = 2  # mistakes together
_SHOWN = 3  # explanations, if several fit


def explained(formula: Formula, cases: Sequence[Sequence[Any]], results: Sequence[Any]) -> str:
    """Name the smallest sets of mistakes that give all the ``results``; "" if there is none.

    ``cases``: the arguments of each case.
    """
    sets = smallest_sets(
        formula.mistakes, MOST, lambda mistakes: _gives(formula, mistakes, cases, results)
    )
    return _sentence(sets) if sets else ""


def _gives(
    formula: Formula, mistakes: Wrong, cases: Sequence[Sequence[Any]], results: Sequence[Any]
) -> bool:
    for case, numbers in zip(cases, results, strict=True):
        with np.errstate(all="ignore"):
            computed = np.asarray(formula.compute(mistakes, *case), dtype=float)
        if computed.shape != np.shape(numbers) or not close(numbers, computed):
            return False
    return True


def _sentence(sets: Sequence[tuple[str, ...]]) -> str:
    if len(sets) == 1 and len(sets[0]) == 1:
        one = _("This is the result of a known mistake: {mistake}.")
        return one.format(mistake=_(sets[0][0]))
    if len(sets) == 1:
        two = _("This is the result of two known mistakes together: {mistakes}.")
        return two.format(mistakes=_numbered([_(mistake) for mistake in sets[0]]))
    several = [_together([_(mistake) for mistake in mistakes]) for mistakes in sets[:_SHOWN]]
    one_of = _("This is the result of one of these known mistakes: {mistakes}.")
    return one_of.format(mistakes=_numbered(several))


def _together(mistakes: Sequence[str]) -> str:
    """One mistake, or two in one sentence."""
    first, *others = mistakes
    for other in others:
        first = _("{first} and {second}").format(first=first, second=other)
    return first


def _numbered(mistakes: Sequence[str]) -> str:
    listed = ""
    for number, mistake in enumerate(mistakes, start=1):
        entry = _("({number}) {mistake}").format(number=number, mistake=mistake)
        listed = _("{listed}; {entry}").format(listed=listed, entry=entry) if listed else entry
    return listed
