# mypy: allow-untyped-defs
"""Exercises of chapter 2: a step of FedProx, a client's local training, and its local problem solved."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.tools import array, call, close, number, require, shown


def prox_step(y, w, gradient, mu, lr):
    """The local parameters after one step of FedProx from y; the round started at w."""
    ### BEGIN SOLUTION
    return y - lr * (gradient + mu * (y - w))
    ### END SOLUTION


def check_prox_step(answer):
    y, w, slope, still = np.array([1.0, 2.0]), np.array([0.5, 3.0]), np.array([0.3, -0.2]), np.zeros(2)

    def found(y, gradient, mu):
        return array(call(answer, y, w, gradient, mu, 0.1), (2,))

    require(
        close(found(y, slope, 0.0), y - 0.1 * slope),
        "With μ = 0 a step must be that of FedAvg, y − η g. Yours is not.",
    )
    require(
        close(found(w, slope, 0.4), w - 0.1 * slope),
        "At y = w the spring is slack and must not pull, whatever μ is. Yours does: what is it tied to?",
    )
    moved = (y - found(y, still, 0.4))[0] / (y - w)[0]
    require(
        moved > 0,
        f"With a zero gradient the spring alone acts, and must pull y back to w. From y = {shown(y)} with "
        f"w = {shown(w)} your step goes the other way, or nowhere.",
    )
    require(not close(moved, 0.4), "The spring is part of the gradient, so it is multiplied by η as well.")
    require(
        close(moved, 0.04),
        f"With a zero gradient a step must cover ημ = 0.04 of the way back to w, and yours covers {shown(moved)}. "
        "The energy is μ/2 ‖y − w‖²: what is its derivative?",
    )
    require(
        close(found(y, slope, 0.4), y - 0.1 * (slope + 0.4 * (y - w))),
        "Gradient and spring are right one at a time, but not together: both act in the same step.",
    )


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


def check_local_training(answer):
    w, centre = np.array([2.0, -1.0]), np.array([0.0, 1.0])

    def found(mu, steps):
        asked = []

        def gradient(y):
            asked.append(np.array(y, dtype=float))
            return 1.0 * (y - centre)

        return array(call(answer, gradient, w, mu, 0.1, steps), (2,)), asked

    end, asked = found(0.5, 3)
    require(len(asked) == 3, f"With num_steps = 3 your code asks for {len(asked)} gradients. Count the steps again.")
    require(close(asked[0], w), f"The first gradient belongs at w = {shown(w)}, where the round starts.")
    require(
        not close(asked[1], w),
        "Your second step asks for the gradient at w again. Each step takes the gradient at the present y.",
    )
    free = centre + 0.9**3 * (w - centre)
    require(close(found(0.0, 3)[0], free), "With μ = 0 the result must be that of three plain SGD steps. Yours is not.")
    require(
        not close(end, free), "With μ = 0.5 your client arrives where it arrives with μ = 0: its spring never pulls."
    )
    expected = w + (1 - 0.85**3) / 1.5 * (centre - w)
    require(
        close(end, expected),
        f"On a quadratic the client covers the part s_k of its way and arrives at {shown(expected)}; "
        f"yours arrives at {shown(end)}. The anchor is w, where the round started, in every step.",
    )


def proximal_point(a, b, w, mu):
    """Where a client with the loss a/2 (y - b)² ends that solves its problem with the spring."""
    ### BEGIN SOLUTION
    return (a * b + mu * w) / (a + mu)
    ### END SOLUTION


def check_proximal_point(answer):
    def found(a, b, w, mu):
        return number(call(answer, a, b, w, mu))

    free = found(3.0, 1.0, 0.2, 0.0)
    require(
        close(free, 1.0), f"With μ = 0 nothing holds the client: it must end at its own b = 1, not at {shown(free)}."
    )
    stays = found(3.0, 0.2, 0.2, 5.0)
    require(
        close(stays, 0.2),
        f"A client that is sent its own optimum, w = b = 0.2, must stay. Yours goes to {shown(stays)}.",
    )
    end = found(2.0, 1.0, 0.0, 2.0)
    require(0 < end < 1, f"The answer must lie between w = 0 and b = 1, and yours is {shown(end)}.")
    require(
        not close(end, 1.0) and close(end, 0.5),
        f"With a = μ = 2 both springs are equally strong, so the client ends half-way, and yours ends at {shown(end)}.",
    )
    far, near = found(2.0, 1.0, 0.0, 0.5), found(2.0, 1.0, 0.0, 50.0)
    require(near < far, "A larger μ must hold the client closer to w. Yours goes closer to b: which weight is whose?")
    slope = 3.0 * (found(3.0, 1.0, 0.2, 1.5) - 1.0) + 1.5 * (found(3.0, 1.0, 0.2, 1.5) - 0.2)
    require(
        close(slope, 0.0),
        f"At the minimum the derivative a (y − b) + μ (y − w) must be zero; yours is {shown(slope)}.",
    )


EXERCISES = (
    Exercise(
        id="02-prox-step",
        solution=prox_step,
        check=check_prox_step,
        mistakes=(
            Mistake("(y - w)", "(w - y)", "the other way"),
            Mistake("(y - w)", "y", "must not pull"),
            Mistake("mu * (y", "mu / 2 * (y", "derivative"),
            Mistake("mu * (y", "2 * mu * (y", "derivative"),
            Mistake("(gradient + mu * (y - w))", "gradient - mu * (y - w)", "multiplied by η"),
            Mistake("gradient + ", "", "With μ = 0"),
        ),
    ),
    Exercise(
        id="02-local-training",
        solution=local_training,
        check=check_local_training,
        mistakes=(
            Mistake("y = w.copy()", "y = w", "in place"),
            Mistake("gradient(y)", "gradient(w)", "asks for the gradient at w again"),
            Mistake("range(num_steps)", "range(num_steps - 1)", "Count the steps"),
            Mistake("mu * (y - w)", "mu * (y - y)", "never pulls"),
            Mistake("y = w.copy()", "y = np.zeros_like(w)", "where the round starts"),
            Mistake("mu * (y - w)", "mu * y", "The anchor is w"),
        ),
    ),
    Exercise(
        id="02-proximal-point",
        solution=proximal_point,
        check=check_proximal_point,
        mistakes=(
            Mistake("(a * b + mu * w) / (a + mu)", "(a * w + mu * b) / (a + mu)", "must end at its own b"),
            Mistake(" / (a + mu)", " / (1 + mu)", "must end at its own b"),
            Mistake(" + mu * w", "", "must stay"),
            Mistake("(a * b + mu * w) / (a + mu)", "b - mu * (b - w) / (1 + mu)", "half-way"),
        ),
    ),
)
