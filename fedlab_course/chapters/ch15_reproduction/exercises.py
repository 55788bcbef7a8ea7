# mypy: allow-untyped-defs
"""Exercise of chapter 15: Holm's correction."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def stands(p, level):
    """Which verdicts stand among all: True or False for each of the p-values p."""
    ### BEGIN SOLUTION
    found, going_on = [False] * len(p), True
    for rank, place in enumerate(np.argsort(p)):
        going_on = going_on and p[place] <= level / (len(p) - rank)
        found[place] = bool(going_on)
    return found
    ### END SOLUTION


EXERCISES = (
    Exercise(
        id="15-holm",
        solution=stands,
        cases=(
            Case((np.array([0.05]), 0.06), [True], "A single p-value of 0.05 passes at a level of 0.06."),
            Case(
                (np.array([0.05, 0.055, 0.065]), 0.06),
                [False, False, False],
                "The p-values 0.05, 0.055 and 0.065, at a level of 0.06. The smallest must be at most 0.06 / 3.",
            ),
            Case(
                (np.array([0.01, 0.025, 0.05]), 0.06),
                [True, True, True],
                "The p-values 0.01, 0.025 and 0.05, at a level of 0.06. The limits are 0.06 / 3, 0.06 / 2 and 0.06 / "
                "1.",
            ),
            Case(
                (np.array([0.05, 0.01, 0.025]), 0.06),
                [True, True, True],
                "The p-values 0.05, 0.01 and 0.025: the order of the argument must not matter.",
            ),
            Case(
                (np.array([0.01, 0.04, 0.05]), 0.06),
                [True, False, False],
                "The p-values 0.01, 0.04 and 0.05. 0.04 fails, because it is more than 0.06 / 2.",
            ),
            Case(
                (np.array([0.05, 0.01, 0.04]), 0.06),
                [False, True, False],
                "Of the p-values 0.05, 0.01 and 0.04 only the second passes. Answers stand in the order of the "
                "argument.",
            ),
        ),
        mistakes=(
            Mistake(
                "level / (len(p) - rank)",
                "level",
                "You compare each p-value with the level itself. With three p-values, the smallest must be at most "
                "0.06 / 3.",
            ),
            Mistake(
                "(len(p) - rank)",
                "len(p)",
                "0.01 is at most 0.06 / 3, and passes. How many p-values are left when the second is tested?",
            ),
            Mistake(
                "np.argsort(p)",
                "range(len(p))",
                "The p-values 0.05, 0.01 and 0.025 all pass in another order, and not in this one. Begin with the "
                "smallest, wherever it is.",
            ),
            Mistake(
                "going_on and p",
                "p",
                "0.04 fails, because it is more than 0.06 / 2. Then 0.05 must fail too, although it is at most 0.06 / "
                "1.",
            ),
            Mistake(
                "found[place]",
                "found[rank]",
                "You return the answers from the smallest p-value to the largest. Return them in the order of `p`.",
            ),
        ),
    ),
)
