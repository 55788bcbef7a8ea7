# mypy: allow-untyped-defs
"""Exercises of chapter 6: where the penalty is exact, as a correction, and importance."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def linear_importance(weights, x):
    """Ω [C, D] of the linear model f(x) = W x with weights W [C, D], over samples x [n, D]."""
    ### BEGIN SOLUTION
    outputs = x @ weights.T  # [n, C]
    gradients = 2 * outputs[:, :, None] * x[:, None, :]  # one per sample, [n, C, D]
    return np.abs(gradients).mean(0)
    ### END SOLUTION


def penalty_correction(importance, received, strength):
    """The weight a and the anchor r for which a ⊙ (y − r) is the gradient of λ Σ Ω (y − w)²."""
    ### BEGIN SOLUTION
    return 2 * strength * importance, received
    ### END SOLUTION


_W, _W_2 = np.array([[1.0, 0.0, 0.5], [0.0, -2.0, 0.0]]), np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
_OMEGA, _RECEIVED = np.array([0.0, 0.5, 3.0]), np.array([1.0, -1.0, 2.0])

_SAME_SIZE, _TWO = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]), np.array([[1.0, 2.0, 1.0], [2.0, -1.0, 0.0]])

EXERCISES = (
    Exercise(
        id="06-penalty",
        solution=penalty_correction,
        cases=(
            Case((_OMEGA, _RECEIVED, 1.0), ([0, 1, 6], [1, -1, 2]), "λ = 1. For every y, a ⊙ (y − r) is the gradient."),
            Case((_OMEGA, _RECEIVED, 0.2), ([0, 0.2, 1.2], [1, -1, 2]), "λ = 0.2: a ⊙ (y − r) is the gradient."),
        ),
        mistakes=(
            Mistake("2 * strength", "strength", "Yours is half the gradient: unlike FedProx, it has no factor ½."),
            Mistake("2 * strength * importance", "2 * importance", "Your result does not depend on λ."),
            Mistake("2 * strength", "-2 * strength", "Your penalty pushes the client away from the received model."),
        ),
    ),
    Exercise(
        id="06-importance",
        solution=linear_importance,
        cases=(
            Case((_W, np.array([[1.0, 1.0, 0.0]])), [[2, 2, 0], [4, 4, 0]], "There is one sample, x = (1, 1, 0)."),
            Case((_W, _SAME_SIZE), [[2, 2, 0], [4, 4, 0]], "At (1, 1, 0) and (1, −1, 0) gradients have the same size."),
            Case((_W_2, _TWO), [[5, 10, 5], [3, 3, 1]], "W x is (5, 1) for the first sample, (0, −1) for the second."),
        ),
        mistakes=(
            Mistake("np.abs(gradients)", "gradients", "With a negative Ω the penalty rewards clients that move away."),
            Mistake("np.abs(gradients).mean(0)", "np.abs(gradients.mean(0))", "In your mean the samples cancel."),
            Mistake("np.abs", "np.square", "MAS takes absolute values, not squares."),
            Mistake("2 * outputs", "outputs", "What is the derivative of f²?"),
            Mistake(".mean(0)", ".sum(0)", "Your Ω grows with the number of samples."),
        ),
    ),
)
