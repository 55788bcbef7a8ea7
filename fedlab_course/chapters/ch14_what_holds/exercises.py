# mypy: allow-untyped-defs
"""Exercises of chapter 14: the verdict on an interval, and Holm's correction."""

import numpy as np

from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake

_ = translator(__name__)


def verdict(low, high, delta):
    """The verdict on a 95 % interval from low to high, if a number above δ is expected."""
    ### BEGIN SOLUTION
    if -delta <= low and high <= delta:
        return "equivalent"
    if low > delta:
        return "holds"
    if high < -delta:
        return "opposite"
    if low > 0:
        return "higher"
    if high < 0:
        return "lower"
    return "undecided"
    ### END SOLUTION


def holm(p, level):
    """Which verdicts are kept among all: True or False for each of the p-values p."""
    ### BEGIN SOLUTION
    kept = [False] * len(p)
    going_on = True
    for rank, place in enumerate(np.argsort(p)):
        going_on = going_on and p[place] <= level / (len(p) - rank)
        kept[place] = bool(going_on)
    return kept
    ### END SOLUTION


EXERCISES = (
    Exercise(
        id="14-verdict",
        solution=verdict,
        cases=(
            Case((2.0, 5.0, 1.0), "holds", _("From 2 to 5, and δ = 1: all of it is above δ.")),
            Case((-5.0, -2.0, 1.0), "opposite", _("From −5 to −2, and δ = 1: it is below −δ.")),
            Case(
                (-0.5, 0.8, 1.0), "equivalent", _("From −0.5 to 0.8, and δ = 1: it is within ±δ.")
            ),
            Case(
                (0.2, 0.8, 1.0),
                "equivalent",
                _("From 0.2 to 0.8, and δ = 1: without zero, and within ±δ."),
            ),
            Case(
                (-0.9, -0.1, 1.0),
                "equivalent",
                _("From −0.9 to −0.1, and δ = 1: without zero, and within ±δ."),
            ),
            Case(
                (0.4, 3.0, 1.0),
                "higher",
                _("From 0.4 to 3, and δ = 1: above zero, and δ is in it."),
            ),
            Case(
                (-3.0, -0.4, 1.0),
                "lower",
                _("From −3 to −0.4, and δ = 1: below zero, with −δ in it."),
            ),
            Case(
                (-0.5, 3.0, 1.0), "undecided", _("From −0.5 to 3, and δ = 1: zero and δ are in it.")
            ),
            Case(
                (-3.0, 0.5, 1.0),
                "undecided",
                _("From −3 to 0.5, and δ = 1: zero and −δ are in it."),
            ),
            Case((-4.0, 4.0, 1.0), "undecided", _("From −4 to 4, and δ = 1: it holds all of ±δ.")),
            Case(
                (-1.0, 1.0, 1.0),
                "equivalent",
                _("From −1 to 1, and δ = 1: the ends count as within."),
            ),
            Case((1.0, 3.0, 1.0), "higher", _("From 1 to 3, and δ = 1: δ itself is not above δ.")),
        ),
        mistakes=(
            Mistake(
                "if -delta <= low and high <= delta:",
                "if low <= 0 <= high and -delta <= low and high <= delta:",
                _("Equivalent does not ask for zero: 0.2 to 0.8 is within ±1."),
            ),
            Mistake(
                "low > delta",
                "low > 0",
                _("A number above zero may still be smaller than δ: then it is higher."),
            ),
            Mistake(
                'return "undecided"',
                'return "equivalent"',
                _("With 0 and δ in it, an interval allows both: undecided."),
            ),
        ),
    ),
    Exercise(
        id="14-holm",
        solution=holm,
        cases=(
            Case(
                (np.array([0.05]), 0.06),
                [True],
                _("A single p-value of 0.05 passes at a level of 0.06."),
            ),
            Case(
                (np.array([0.05, 0.055, 0.065]), 0.06),
                [False] * 3,
                _("Of three, the smallest is to be ≤ 0.06 / 3."),
            ),
            Case(
                (np.array([0.01, 0.025, 0.05]), 0.06),
                [True] * 3,
                _("The limits are 0.06 / 3, 0.06 / 2 and 0.06 / 1."),
            ),
            Case(
                (np.array([0.01, 0.04, 0.05]), 0.06),
                [True, False, False],
                _("0.04 fails: it is more than 0.06 / 2."),
            ),
            Case(
                (np.array([0.05, 0.01, 0.04]), 0.06),
                [False, True, False],
                _("Of 0.05, 0.01, 0.04 the second passes."),
            ),
            Case(
                (np.array([0.5, 0.25]), 0.5),
                [True, True],
                _("0.25 and 0.5 are at most 0.5 / 2 and 0.5 / 1: a limit itself passes."),
            ),
            Case(
                (np.array([0.04, 0.001, 0.01, 0.012, 0.9]), 0.05),
                [False, True, True, True, False],
                _("The limits are 0.05 divided by 5, 4, 3, 2 and 1."),
            ),
        ),
        mistakes=(
            Mistake(
                "level / (len(p) - rank)",
                "level",
                _("Of three p-values the smallest must be at most 0.06 / 3."),
            ),
            Mistake(
                "(len(p) - rank)",
                "len(p)",
                _("0.01 passes. How many p-values are left when the second is tested?"),
            ),
            Mistake(
                "np.argsort(p)",
                "range(len(p))",
                _("Begin with the smallest p-value, wherever it is."),
            ),
            Mistake(
                "going_on and p",
                "p",
                _("0.04 fails. Then 0.05 must fail too, although it is at most 0.06 / 1."),
            ),
            Mistake(
                "kept[place]",
                "kept[rank]",
                _("You answer in the order of size. Answer in the order of `p`."),
            ),
        ),
    ),
)
