# mypy: allow-untyped-defs
"""Exercises of chapter 0: FedAvg in twenty lines, a function at a time."""

import numpy as np

from fedlab_core.language import translator
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Case, Exercise, Mistake

_ = translator(__name__)


def local_update(w, k, gradient, eta, steps):
    """The parameters of client k after some local steps from w; gradient(k, y) is ∇F_k(y)."""
    ### BEGIN SOLUTION
    y = w
    for _ in range(steps):
        y = y - eta * gradient(k, y)
    return y
    ### END SOLUTION


def aggregate(models, sizes):
    """The average of the models [K, P], weighted by the clients' numbers of samples [K]."""
    ### BEGIN SOLUTION
    return np.average(models, axis=0, weights=sizes)
    ### END SOLUTION


def fedavg(w, gradient, sizes, cohorts, eta, steps):
    """The parameters after one round for each cohort.

    A cohort is an array of client numbers; sizes: the samples of all clients [N].
    """
    for cohort in cohorts:
        ### BEGIN SOLUTION
        models = np.array([local_update(w, k, gradient, eta, steps) for k in cohort])
        w = aggregate(models, sizes[cohort])
        ### END SOLUTION
    return w


_A = np.array([1.0, 3.0, 2.0])
_B = np.array([[0.0, 2.0], [1.0, 0.0], [-1.0, 1.0]])


def _slope(k, y):
    """The gradient of a_k/2 ‖y − b_k‖²."""
    return _A[k] * (y - _B[k])


_W = np.array([1.0, 1.0])
_SIZES = np.array([10, 30, 20])
_TWO = np.array([[0.0, 2.0], [1.0, 4.0]])
_PAIR = np.array([0, 1])
_PAIR_2 = np.array([1, 2])
_LAST = np.array([2])

EXERCISES = (
    Exercise(
        id="00-local",
        solution=local_update,
        known=known_formulas.LOCAL,
        cases=(
            Case((_W, 0, _slope, 0.1, 0), [1.0, 1.0], _("With zero steps the client stays at w.")),
            Case(
                (_W, 0, _slope, 0.1, 1),
                [0.9, 1.1],
                _("One step of client 0, whose gradient at w is (1, −1)."),
            ),
            Case(
                (_W, 1, _slope, 0.1, 1),
                [1.0, 0.7],
                _("One step of client 1, whose gradient at w is (0, 3)."),
            ),
            Case(
                (_W, 1, _slope, 0.1, 2),
                [1.0, 0.49],
                _("Two steps of client 1: the second gradient is taken at y."),
            ),
            Case((_W, 2, _slope, 0.2, 1), [0.2, 1.0], _("One step of client 2 with η = 0.2.")),
        ),
        mistakes=(
            Mistake(
                "gradient(k, y)",
                "gradient(k, w)",
                _("Each step takes the gradient at w. Where is the client now?"),
            ),
            Mistake("y - eta", "y + eta", _("Your step goes uphill.")),
            Mistake("eta * ", "", _("Your step does not depend on η.")),
            Mistake(
                "for _ in range(steps):\n        y",
                "if steps:\n        y",
                _("You make one step, whatever `steps` is."),
            ),
        ),
    ),
    Exercise(
        id="00-aggregate",
        solution=aggregate,
        known=known_formulas.AGGREGATE,
        cases=(
            Case(
                (_TWO, np.array([5, 5])),
                [0.5, 3.0],
                _("Two clients of equal size: the plain mean."),
            ),
            Case(
                (_TWO, np.array([10, 30])),
                [0.75, 3.5],
                _("Client 1 has three times as many samples."),
            ),
            Case((_TWO[:1], np.array([7])), [0.0, 2.0], _("A single client: its own model.")),
            Case(
                (np.array([[3.0], [0.0], [6.0]]), np.array([1, 1, 2])),
                [3.75],
                _("Three clients and one parameter: (3 + 0 + 2 · 6) / 4."),
            ),
        ),
        mistakes=(
            Mistake(
                ", weights=sizes", "", _("Your average ignores how many samples each client has.")
            ),
            Mistake(
                "np.average(models, axis=0, weights=sizes)",
                "sizes @ models",
                _("Divide by the sum of the sizes."),
            ),
            Mistake("axis=0", "axis=1", _("Average over the clients, parameter by parameter.")),
        ),
    ),
    Exercise(
        id="00-fedavg",
        solution=fedavg,
        known=known_formulas.FEDAVG,
        uses=("00-local", "00-aggregate"),
        cases=(
            Case(
                (_W, _slope, _SIZES, [_LAST], 0.1, 1),
                [0.6, 1.0],
                _("One round in which client 2 trains alone."),
            ),
            Case(
                (_W, _slope, _SIZES, [_PAIR], 0.1, 1),
                [0.975, 0.8],
                _("Clients 0 and 1 have 10 and 30 samples."),
            ),
            Case(
                (_W, _slope, _SIZES, [_PAIR_2], 0.1, 1),
                [0.84, 0.82],
                _("Clients 1 and 2 have 30 and 20 samples."),
            ),
            Case(
                (_W, _slope, _SIZES, [_PAIR, _LAST], 0.1, 1),
                [0.58, 0.84],
                _("Round 2 starts from the average of round 1."),
            ),
            Case(
                (_W, _slope, _SIZES, [_PAIR], 0.1, 2),
                [0.9525, 0.665],
                _("Two local steps per round."),
            ),
            Case((_W, _slope, _SIZES, [_LAST], 0.2, 1), [0.2, 1.0], _("One round with η = 0.2.")),
        ),
        mistakes=(
            Mistake(
                "sizes[cohort]",
                "sizes[: len(cohort)]",
                _("Do the sizes belong to the clients of this cohort?"),
            ),
            Mistake(
                ", sizes[cohort]",
                ", np.ones(len(cohort))",
                _("Your average ignores how many samples each client has."),
            ),
            Mistake(
                "for k in cohort",
                "for k in range(len(cohort))",
                _("Which clients train? Their numbers are in `cohort`."),
            ),
            Mistake(
                "        w = ag",
                "        return ag",
                _("Your function stops after the first round."),
            ),
            Mistake(
                "[local_update(w, k, gradient, eta, steps)",
                "[w := local_update(w, k, gradient, eta, steps)",
                _("All clients of a cohort must start from the same w."),
            ),
        ),
    ),
)
