# mypy: allow-untyped-defs
"""Exercises of chapter 2: a step of FedProx, a client's local training, and its local problem solved."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def prox_step(y, w, gradient, mu, lr):
    """The local parameters after one step of FedProx from y; the round started at w."""
    ### BEGIN SOLUTION
    return y - lr * (gradient + mu * (y - w))
    ### END SOLUTION


def local_training(gradient, w, mu, lr, num_steps):
    """The local parameters after num_steps steps of FedProx from w.

    gradient is a function: gradient(y) is the client's gradient at y.
    """
    ### BEGIN SOLUTION
    y = w.copy()
    for _ in range(num_steps):
        y -= lr * (gradient(y) + mu * (y - w))
    return y
    ### END SOLUTION


def proximal_point(a, b, w, mu):
    """Where a client with the loss a/2 (y - b)² ends that solves its problem with the spring."""
    ### BEGIN SOLUTION
    return (a * b + mu * w) / (a + mu)
    ### END SOLUTION


def _gradient(y):
    """The gradient of ‖y − (0, 1)‖² / 2."""
    return y - np.array([0.0, 1.0])


_Y, _W, _SLOPE = np.array([1.0, 2.0]), np.array([0.5, 3.0]), np.array([0.3, -0.2])
_START = np.array([2.0, -1.0])

EXERCISES = (
    Exercise(
        id="02-prox-step",
        solution=prox_step,
        cases=(
            Case((_Y, _W, _SLOPE, 0.0, 0.1), [0.97, 2.02], "With μ = 0 the step is one of FedAvg, y − η g."),
            Case((_W, _W, _SLOPE, 0.4, 0.1), [0.47, 3.02], "At y = w the spring does not pull, whatever μ is."),
            Case((_Y, _W, np.zeros(2), 0.4, 0.1), [0.98, 2.04], "The gradient is zero. The spring pulls y to w."),
            Case((_Y, _W, _SLOPE, 0.4, 0.1), [0.95, 2.06], "Gradient and spring act in the same step."),
        ),
        mistakes=(
            Mistake("(y - w)", "(w - y)", "Your step goes away from w."),
            Mistake("(y - w)", "y", "Yours pulls. To which point is your spring tied?"),
            Mistake("mu * (y", "mu / 2 * (y", "Your spring pulls half as much. What is the slope of μ/2 ‖y − w‖²?"),
            Mistake("(gradient + mu * (y - w))", "gradient - mu * (y - w)", "Does η multiply the spring too?"),
        ),
    ),
    Exercise(
        id="02-local-training",
        solution=local_training,
        cases=(
            Case((_gradient, _START, 0.0, 0.1, 1), [1.8, -0.8], "One step with μ = 0 is one step of SGD."),
            Case((_gradient, _START, 0.0, 0.1, 3), [1.458, -0.458], "Three steps with μ = 0 are three steps of SGD."),
            Case((_gradient, _START, 0.5, 0.1, 3), [1.4855, -0.4855], "Three steps on a quadratic, with μ = 0.5."),
        ),
        mistakes=(
            Mistake("gradient(y)", "gradient(w)", "Each step needs the gradient where the client is then."),
            Mistake("range(num_steps)", "range(num_steps - 1)", "Your code makes one step too few."),
            Mistake("mu * (y - w)", "mu * (y - y)", "Your result is the same for μ = 0 and for μ = 0.5."),
        ),
    ),
    Exercise(
        id="02-proximal-point",
        solution=proximal_point,
        cases=(
            Case((3.0, 1.0, 0.2, 0.0), 1, "With μ = 0 nothing holds the client: it ends at its own b = 1."),
            Case((3.0, 0.2, 0.2, 5.0), 0.2, "A client that receives its own optimum, w = b = 0.2, stays there."),
            Case((3.0, 1.0, 0.2, 1.5), 3.3 / 4.5, "At the minimum the derivative a (y − b) + μ (y − w) is zero."),
        ),
        mistakes=(
            Mistake("a * b + mu * w", "a * w + mu * b", "Which weight belongs to which point?"),
            Mistake(" / (a + mu)", " / (1 + mu)", "The weights of a mean must sum to 1."),
            Mistake(" + mu * w", "", "Your client moves as if w were 0."),
        ),
    ),
)
