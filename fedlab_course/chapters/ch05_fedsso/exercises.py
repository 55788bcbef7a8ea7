# mypy: allow-untyped-defs
"""Exercises of chapter 5: weights that go with a draw, the clusters that can be found, and what strata remove."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def cohort_weights(rho, pi):
    """The weights ω [K] of a cohort with shares ρ [K] of all samples and probabilities π [K]."""
    ### BEGIN SOLUTION
    ratios = rho / pi
    return ratios / ratios.sum()
    ### END SOLUTION


def shared_groups(label_sets):
    """How many groups OPTICS can find at best, from the labels that each client holds."""
    ### BEGIN SOLUTION
    groups = [frozenset(labels) for labels in label_sets]
    return sum(groups.count(group) >= 2 for group in set(groups))
    ### END SOLUTION


_EQUAL, _FEW_MANY = np.array([0.01, 0.01]), np.array([0.01, 0.03])

EXERCISES = (
    Exercise(
        id="05-weights",
        solution=cohort_weights,
        cases=(
            Case((np.full(4, 0.01), np.full(4, 0.1)), [0.25] * 4, "Four clients are equal."),
            Case((_FEW_MANY, np.full(2, 0.1)), [0.25, 0.75], "The second has three times the samples."),
            Case((_EQUAL, np.array([0.1, 0.3])), [0.75, 0.25], "The second is drawn three times as often."),
        ),
        mistakes=(
            Mistake("return ratios / ratios.sum()", "return ratios", "The weights of a cohort must sum to 1."),
            Mistake("rho / pi", "rho * pi", "A client that is drawn more often takes part too often already."),
            Mistake("rho / pi", "rho", "Your weights do not depend on π."),
            Mistake("rho / pi", "1 / pi", "Your weights do not depend on ρ."),
        ),
    ),
    Exercise(
        id="05-shared",
        solution=shared_groups,
        cases=(
            Case(([(0, 1), (2, 3), (4, 5)],), 0, "No two clients have the same labels."),
            Case(([(0, 1), (1, 0), (2, 3)],), 1, "Two clients have the labels 0 and 1."),
            Case(([(0, 1), (0, 2), (3, 4), (3, 5)],), 0, "Some clients have one label in common; no two have both."),
            Case(([(4, 5), (1, 2), (2, 1), (5, 4), (7, 8)],), 2, "Two pairs of clients, and one client alone."),
        ),
        mistakes=(
            Mistake(">= 2", ">= 1", "How many clients does a cluster need?"),
            Mistake("for group in set(groups)", "for group in groups", "You count clients. How many groups are they?"),
            Mistake("frozenset(labels)", "tuple(labels)", "Does the order of the labels matter?"),
            Mistake("frozenset(labels)", "min(labels)", "One label in common is not enough."),
        ),
    ),
)
