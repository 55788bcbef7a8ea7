# mypy: allow-untyped-defs
"""Exercises of chapter 10: a round with noisy gradients, and the gap Γ."""

import numpy as np

from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake

_ = translator(__name__)


def one_round(w, a, b, eta, noise):
    """The mean of the clients' y_k after a round, [M]: M runs side by side.

    w [M]; a and b [N, 1]; noise [τ, N, M] is what is added to the gradient in each local step.
    """
    y = w
    for added in noise:
        ### BEGIN SOLUTION
        y = y - eta * (a * (y - b) + added)
        ### END SOLUTION
    return y.mean(axis=0)


def heterogeneity_gap(a, b, rho):
    """Γ of clients F_k(w) = a_k/2 (w − b_k)² with weights rho; all arrays [N]."""
    ### BEGIN SOLUTION
    optimum = (rho * a * b).sum() / (rho * a).sum()
    return (rho * a / 2 * (optimum - b) ** 2).sum()
    ### END SOLUTION


def _column(*values):
    return np.array(values, dtype=float)[:, None]


HALF = np.array([0.5, 0.5])
ONES = np.ones(3)
ZERO_ONE = np.array([0.0, 1.0])

_FOUR = np.array([0.0, 1.0, 2.0, 7.0])
_NOISE = np.array([[[1.0], [-1.0]], [[4.0], [0.0]]])

EXERCISES = (
    Exercise(
        id="10-round",
        solution=one_round,
        cases=(
            Case(
                (ZERO_ONE, _column(1, 3), _column(0, 1), 0.1, np.zeros((1, 2, 2))),
                [0.15, 0.95],
                _(
                    "One step without noise: w − η times the mean gradient, from w = 0 and from "
                    "w = 1."
                ),
            ),
            Case(
                (np.array([4.0]), _column(1, 1), _column(0, 2), 0.5, np.zeros((2, 2, 1))),
                [1.75],
                _("Two steps without noise: 4, 2, 1 at client 1, and 4, 3, 2.5 at client 2."),
            ),
            Case(
                (np.array([2.0]), _column(1, 1), _column(0, 0), 0.5, _NOISE),
                [-0.5],
                _(
                    "Noise 1 and 4 at client 1, −1 and 0 at client 2: 2, 0.5, −1.75 and 2, 1.5, "
                    "0.75."
                ),
            ),
            Case(
                (
                    np.array([0.0, 8.0]),
                    _column(2, 4, 1),
                    _column(0, 1, 2),
                    0.25,
                    np.zeros((3, 3, 2)),
                ),
                [0.71875, 6.53125 / 3],
                _("Three clients make three steps, from w = 0 and from w = 8."),
            ),
        ),
        mistakes=(
            Mistake(
                "a * (y - b)",
                "a * (w - b)",
                _("Your gradients are taken at w. A local step takes its gradient at y."),
            ),
            Mistake(
                "eta * (a * (y - b) + added)",
                "(eta * a * (y - b) + added)",
                _("The noise is a part of the gradient. What is a gradient multiplied by?"),
            ),
            Mistake(" + added", "", _("Your result is the same whatever the noise is.")),
            Mistake(
                "y - eta * (a * (y - b) + added)",
                "w - eta * (a * (y - b) + added)",
                _("Each of your steps starts at w. Where does a local step start?"),
            ),
            Mistake("y = y - eta", "y = y + eta", _("A step goes against the gradient.")),
        ),
    ),
    Exercise(
        id="10-gap",
        solution=heterogeneity_gap,
        cases=(
            Case(
                (np.array([1.0, 3.0]), np.array([2.0, 2.0]), HALF),
                0.0,
                _("One w suits both clients here."),
            ),
            Case(
                (np.full(4, 2.0), _FOUR, np.full(4, 0.25)),
                7.25,
                _("The clients (w − e_k)², e = (0, 1, 2, 7)."),
            ),
            Case(
                (np.array([1.0, 3.0]), ZERO_ONE, HALF),
                0.1875,
                _("For a = (1, 3), b = (0, 1) the optimum is 0.75."),
            ),
            Case(
                (ONES[:2], ZERO_ONE, np.array([0.9, 0.1])),
                0.045,
                _("With ρ = (0.9, 0.1) the optimum is 0.1."),
            ),
            Case(
                (np.array([1.0, 3.0, 4.0]), np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.25, 0.25])),
                1.75,
                _("For a = (1, 3, 4), b = (0, 1, 3), ρ = (0.5, 0.25, 0.25) the optimum is 5/3."),
            ),
        ),
        mistakes=(
            Mistake(
                "rho * a * b).sum() / (rho * a)",
                "rho * b).sum() / rho",
                _("Which client pulls harder?"),
            ),
            Mistake(
                "rho * a / 2",
                "rho * a",
                _("Yours is {found}, twice the gap. Which factor does a loss have?"),
            ),
            Mistake(
                "(rho * a / 2",
                "(a / 2 / len(a)",
                _("With ρ = (0.9, 0.1) yours is {found}. Where do weights enter?"),
            ),
            Mistake(
                "(optimum - b) ** 2",
                "b**2",
                _("One w suits both clients, so Γ is 0. Where is a loss taken?"),
            ),
        ),
    ),
)
