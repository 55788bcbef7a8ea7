# mypy: allow-untyped-defs
"""Exercises of chapter 5: weights that go with a draw, the clusters that can be found, and what strata remove."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.tools import array, call, close, number, require, shown


def cohort_weights(rho, pi):
    """The weights ω [K] of a cohort with shares ρ [K] of all samples and probabilities π [K]."""
    ### BEGIN SOLUTION
    ratios = rho / pi
    return ratios / ratios.sum()
    ### END SOLUTION


def check_cohort_weights(answer):
    def found(rho, pi):
        return array(call(answer, np.array(rho), np.array(pi)), (len(rho),))

    equal = found([0.01] * 4, [0.1] * 4)
    require(
        close(equal.sum(), 1.0),
        f"The weights of a cohort must sum to 1, and yours sum to {shown(equal.sum())}: otherwise the round shrinks or "
        "stretches the model.",
    )
    require(close(equal, 0.25), f"Four equal clients count one quarter each, and yours {shown(equal)}.")
    sizes = found([0.01, 0.03], [0.1, 0.1])
    require(
        close(sizes, [0.25, 0.75]),
        f"Drawn with equal chances, a client with three times the samples counts three times as much. Yours: "
        f"{shown(sizes)}.",
    )
    rare = found([0.01, 0.01], [0.1, 0.3])
    require(
        not close(rare, [0.25, 0.75]),
        "You let the client count more that is drawn more often. It is there too often already: divide by π.",
    )
    require(
        not close(rare, [0.5, 0.5]),
        "One client is drawn three times as often as the other, and both count the same. Does π enter?",
    )
    require(
        close(rare, [0.75, 0.25]),
        f"A client that is drawn a third as often must count three times as much when it is drawn. Yours: "
        f"{shown(rare)}.",
    )


def shared_groups(label_sets):
    """How many groups OPTICS can find at best, from the labels that each client holds."""
    ### BEGIN SOLUTION
    groups = [frozenset(labels) for labels in label_sets]
    return sum(groups.count(group) >= 2 for group in set(groups))
    ### END SOLUTION


def check_shared_groups(answer):
    def found(*label_sets):
        return number(call(answer, list(label_sets)))

    alone = found((0, 1), (2, 3), (4, 5))
    require(
        close(alone, 0),
        f"Three clients that share nothing with anybody make no cluster of two, and yours makes {shown(alone)}.",
    )
    three = found((0, 1), (0, 1), (0, 1))
    require(
        close(three, 1),
        f"Three clients with the same two labels are one group, and you count {shown(three)}: count groups, not "
        "clients or pairs of clients.",
    )
    turned = found((0, 1), (1, 0), (2, 3))
    require(
        close(turned, 1),
        f"A client with the labels 0 and 1 holds the same as one with 1 and 0. That is one group, and you count "
        f"{shown(turned)}.",
    )
    half = found((0, 1), (0, 2), (3, 4), (3, 5))
    require(
        close(half, 0),
        f"No two of four clients with 0 and 1, 0 and 2, 3 and 4, 3 and 5 hold the same, and you count {shown(half)}: "
        "one label in common is not enough.",
    )
    two = found((4, 5), (1, 2), (2, 1), (5, 4), (7, 8))
    require(close(two, 2), f"There are two groups of two and one client alone: 2, and you count {shown(two)}.")


EXERCISES = (
    Exercise(
        id="05-weights",
        solution=cohort_weights,
        check=check_cohort_weights,
        mistakes=(
            Mistake("return ratios / ratios.sum()", "return ratios", "must sum to 1"),
            Mistake("rho / pi", "rho * pi", "too often already"),
            Mistake("rho / pi", "rho", "Does π enter"),
            Mistake("rho / pi", "1 / pi", "three times the samples"),
            Mistake("rho / pi", "rho / pi**2", "a third as often"),
        ),
    ),
    Exercise(
        id="05-shared",
        solution=shared_groups,
        check=check_shared_groups,
        mistakes=(
            Mistake(">= 2", ">= 1", "no cluster of two"),
            Mistake("for group in set(groups)", "for group in groups", "not clients or pairs"),
            Mistake("frozenset(labels)", "tuple(labels)", "the same as one with 1 and 0"),
            Mistake("frozenset(labels)", "min(labels)", "one label in common is not enough"),
            Mistake(
                "sum(groups.count(group) >= 2 for group in set(groups))",
                "min(1, sum(groups.count(group) >= 2 for group in set(groups)))",
                "two groups of two",
            ),
        ),
    ),
)
