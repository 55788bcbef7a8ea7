# mypy: allow-untyped-defs
"""Exercises of chapter 12: the largest curvature without a Hessian, and the gap Γ."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def largest_curvature(product, v, times):
    """The largest eigenvalue of a symmetric H, from product(v) = Hv, by power iteration."""
    ### BEGIN SOLUTION
    v = v / np.linalg.norm(v)
    for _ in range(times):
        v = product(v)
        v = v / np.linalg.norm(v)
    return v @ product(v)
    ### END SOLUTION


def heterogeneity_gap(a, b, rho):
    """Γ of clients f_k(w) = a_k/2 (w − b_k)² with weights rho; all arrays [N]."""
    ### BEGIN SOLUTION
    optimum = (rho * a * b).sum() / (rho * a).sum()
    return (rho * a / 2 * (optimum - b) ** 2).sum()
    ### END SOLUTION


def diagonal(*values):
    """The product with a diagonal matrix."""
    return lambda v: np.array(values) * v


HALF, ONES, ZERO_ONE = np.array([0.5, 0.5]), np.ones(3), np.array([0.0, 1.0])

_FOUR = np.array([0.0, 1.0, 2.0, 7.0])

EXERCISES = (
    Exercise(
        id="12-curvature",
        solution=largest_curvature,
        cases=(
            Case((diagonal(3, 3), np.array([3.0, 4.0]), 1), 3.0, "The matrix 3·I stretches every vector by 3."),
            Case((diagonal(1, 2, 5), ONES, 400), 5.0, "diag(1, 2, 5), 400 times, each time with what came out."),
            Case((diagonal(-4, 1), ONES[:2], 200), -4.0, "diag(−4, 1): the eigenvalue of largest size is negative."),
            Case((diagonal(1, 2, 5), ONES, 1), 134 / 30, "One iteration leads from (1, 1, 1) to (1, 2, 5)/√30."),
        ),
        mistakes=(
            Mistake("return v", "return product(v)", "3·I stretches by 3, yours gives {found}. How long must v be?"),
            Mistake("return v @ product(v)", "return np.linalg.norm(product(v))", "‖Hv‖ has no sign. What has one?"),
            Mistake("range(times)", "range(times - 1)", "Take vᵀHv after the last iteration, not before it."),
        ),
    ),
    Exercise(
        id="12-gap",
        solution=heterogeneity_gap,
        cases=(
            Case((np.array([1.0, 3.0]), np.array([2.0, 2.0]), HALF), 0.0, "One w suits both clients here."),
            Case((np.full(4, 2.0), _FOUR, np.full(4, 0.25)), 7.25, "The clients (w − e_k)², e = (0, 1, 2, 7)."),
            Case((np.array([1.0, 3.0]), ZERO_ONE, HALF), 0.1875, "For a = (1, 3), b = (0, 1) the optimum is 0.75."),
            Case((ONES[:2], ZERO_ONE, np.array([0.9, 0.1])), 0.045, "With ρ = (0.9, 0.1) the optimum is 0.1."),
        ),
        mistakes=(
            Mistake("rho * a * b).sum() / (rho * a)", "rho * b).sum() / rho", "Which client pulls harder?"),
            Mistake("rho * a / 2", "rho * a", "Yours is {found}, twice the gap. Which factor does a loss have?"),
            Mistake("(rho * a / 2", "(a / 2 / len(a)", "With ρ = (0.9, 0.1) yours is {found}. Where do weights enter?"),
            Mistake("(optimum - b) ** 2", "b**2", "One w suits both clients, so Γ is 0. Where is a loss taken?"),
        ),
    ),
)
