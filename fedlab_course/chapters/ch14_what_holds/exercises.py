# mypy: allow-untyped-defs
"""Exercise of chapter 14: Holm's correction."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def stands(p, level):
    """Which verdicts stand among all: True or False for each of the p-values p."""
    ### BEGIN SOLUTION
    found = [False] * len(p)
    going_on = True
    for rank, place in enumerate(np.argsort(p)):
        going_on = going_on and p[place] <= level / (len(p) - rank)
        found[place] = bool(going_on)
    return found
    ### END SOLUTION


EXERCISES = (
    Exercise(
        id="14-holm",
        solution=stands,
        cases=(
            Case(
                (np.array([0.05]), 0.06),
                [True],
                "A single p-value of 0.05 passes at a level of 0.06.",
            ),
            Case(
                (np.array([0.05, 0.055, 0.065]), 0.06),
                [False] * 3,
                "Of three, the smallest is to be ≤ 0.06 / 3.",
            ),
            Case(
                (np.array([0.01, 0.025, 0.05]), 0.06),
                [True] * 3,
                "The limits are 0.06 / 3, 0.06 / 2 and 0.06 / 1.",
            ),
            Case(
                (np.array([0.01, 0.04, 0.05]), 0.06),
                [True, False, False],
                "0.04 fails: it is more than 0.06 / 2.",
            ),
            Case(
                (np.array([0.05, 0.01, 0.04]), 0.06),
                [False, True, False],
                "Of 0.05, 0.01, 0.04 the second passes.",
            ),
            Case(
                (np.array([0.5, 0.25]), 0.5),
                [True, True],
                "0.25 and 0.5 are at most 0.5 / 2 and 0.5 / 1: a limit itself passes.",
            ),
            Case(
                (np.array([0.04, 0.001, 0.01, 0.012, 0.9]), 0.05),
                [False, True, True, True, False],
                "The limits are 0.05 divided by 5, 4, 3, 2 and 1.",
            ),
        ),
        mistakes=(
            Mistake(
                "level / (len(p) - rank)",
                "level",
                "Of three p-values the smallest must be at most 0.06 / 3.",
            ),
            Mistake(
                "(len(p) - rank)",
                "len(p)",
                "0.01 passes. How many p-values are left when the second is tested?",
            ),
            Mistake(
                "np.argsort(p)", "range(len(p))", "Begin with the smallest p-value, wherever it is."
            ),
            Mistake(
                "going_on and p",
                "p",
                "0.04 fails. Then 0.05 must fail too, although it is at most 0.06 / 1.",
            ),
            Mistake(
                "found[place]",
                "found[rank]",
                "You answer in the order of size. Answer in the order of `p`.",
            ),
        ),
    ),
)
