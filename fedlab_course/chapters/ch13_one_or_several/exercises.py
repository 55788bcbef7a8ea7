# mypy: allow-untyped-defs
"""Exercises of chapter 13: the pull of Ditto, and the averages of IFCA."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def ditto_point(a, b, w, strength):
    """The lowest point z of a/2 (z - b)² + λ/2 (z - w)², with λ = strength."""
    ### BEGIN SOLUTION
    return (a * b + strength * w) / (a + strength)
    ### END SOLUTION


def averages(models, choices, locals, samples):
    """The models [M, P] after a round: client i trained model choices[i] and sent locals[i]."""
    ### BEGIN SOLUTION
    new = models.copy()
    for m in np.unique(choices):
        mine = choices == m
        new[m] = samples[mine] @ locals[mine] / samples[mine].sum()
    return new
    ### END SOLUTION


MODELS = np.array([[0.0, 0.0], [10.0, 20.0], [5.0, 5.0]])
LOCALS = np.array([[1.0, 2.0], [3.0, 6.0], [7.0, 7.0]])
ONE_CLIENT = (MODELS[1:], np.array([0]), LOCALS[2:], np.array([2.0]))
THREE_CLIENTS = (MODELS, np.array([0, 0, 1]), LOCALS, np.array([1.0, 3.0, 2.0]))

EXERCISES = (
    Exercise(
        id="13-pull",
        solution=ditto_point,
        cases=(
            Case((2.0, 1.5, -1.0, 0.0), 1.5, "Without a pull, λ = 0, the client rests at its own optimum b."),
            Case((1.0, 0.0, 1.0, 1.0), 0.5, "With a = λ both pull equally, and the client rests in the middle."),
            Case((3.0, 0.0, 1.0, 1.0), 0.25, "A steep valley holds more: set a (z − b) + λ (z − w) to zero."),
        ),
        mistakes=(
            Mistake("(a * b + strength * w) / (a + strength)", "b + strength * w", "Yours is not between b and w."),
            Mistake("return", "a = 1\n    return", "A steeper valley holds more, and yours is the same for all a."),
            Mistake("(a * b + strength * w)", "(a * w + strength * b)", "With λ = 0 the client must rest at b."),
        ),
    ),
    Exercise(
        id="13-averages",
        solution=averages,
        cases=(
            Case(ONE_CLIENT, [[7.0, 7.0], [5.0, 5.0]], "Model 0 becomes what the one client sent that chose it."),
            Case(THREE_CLIENTS, [[2.5, 5.0], [7.0, 7.0], [5.0, 5.0]], "Two clients chose model 0, one chose model 1."),
        ),
        mistakes=(
            Mistake("models.copy()", "np.zeros_like(models)", "Nobody chose the last model, and yours becomes [0, 0]."),
            Mistake("new = ", "samples = samples**0\n    new = ", "Both count alike in yours. Who has more samples?"),
            Mistake("/ samples[mine].sum()", "/ samples.sum()", "You divide by all samples. Who trained this model?"),
        ),
    ),
)
