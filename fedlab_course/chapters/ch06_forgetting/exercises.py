# mypy: allow-untyped-defs
"""Exercises of chapter 6: where the penalty is exact, as a correction, and importance."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.tools import array, call, close, pair, require, shown


def linear_importance(weights, x):
    """Ω [C, D] of the linear model f(x) = W x with weights W [C, D], over samples x [n, D]."""
    ### BEGIN SOLUTION
    outputs = x @ weights.T  # [n, C]
    gradients = 2 * outputs[:, :, None] * x[:, None, :]  # one per sample, [n, C, D]
    return np.abs(gradients).mean(0)
    ### END SOLUTION


def check_linear_importance(answer):
    weights = np.array([[1.0, 0.0, 0.5], [0.0, -2.0, 0.0]])
    one, other = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, -1.0, 0.0]])

    def found(x, w=weights):
        return array(call(answer, w, x), w.shape)

    single = np.array([[2.0, 2.0, 0.0], [4.0, 4.0, 0.0]])  # |2 (Wx)_i x_j| at x = (1, 1, 0)
    first = found(one)
    require(
        (first >= 0).all(),
        "Your Ω has negative entries. Importance is an absolute value: with a negative Ω the penalty would pay a "
        "client for running away.",
    )
    require(
        not close(first, single / 2),
        "Half of what it should be. The derivative of f² is 2 f f′.",
    )
    require(
        not close(first, single**2),
        "These are squared gradients, as in the Fisher information. MAS takes absolute values.",
    )
    require(
        close(first, single),
        f"For one sample x = (1, 1, 0) the gradient of ‖f(x)‖² has the sizes {shown(single)}, and yours are "
        f"{shown(first)}.",
    )
    both = found(np.concatenate([one, other]))
    require(
        not close(both, 2 * single),
        "Two samples give twice the importance of one. Ω is a mean over the samples, not a sum.",
    )
    require(
        close(both, single),
        "At x = (1, 1, 0) and at x = (1, −1, 0) all gradients have the same size, so Ω must be the same for one of "
        "them and for both. Yours is smaller: samples cancel. When do you take the absolute value?",
    )
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(2, 3)), rng.normal(size=(6, 3))
    require(
        close(found(x, w), np.stack([np.abs(2 * np.outer(w @ row, row)) for row in x]).mean(0)),
        "Right for simple samples, and wrong for random ones: the mean of |2 (Wx)_i x_j| over the samples is "
        "something else.",
    )


def penalty_correction(importance, received, strength):
    """The weight a and the anchor r for which a ⊙ (y − r) is the gradient of λ Σ Ω (y − w)²."""
    ### BEGIN SOLUTION
    return 2 * strength * importance, received
    ### END SOLUTION


def check_penalty_correction(answer):
    importance, received = np.array([0.0, 0.5, 3.0]), np.array([1.0, -1.0, 2.0])
    result = call(answer, importance, received, 0.2)
    both = pair(result, "Return two things, the weight and the anchor: `return weight, anchor`.")
    weight, anchor = array(both[0], (3,), "the weight"), array(both[1], (3,), "the anchor")
    require(
        close(weight * (received - anchor), 0.0),
        "A client that is still where it started is not pulled at all. Yours is: where is the penalty zero?",
    )
    y = np.array([2.0, 1.0, 1.5])
    pull = weight * (y - anchor)
    require(close(pull[0], 0.0), "A parameter with Ω = 0 is free, and yours is pulled.")
    expected = 2 * 0.2 * importance * (y - received)
    require(
        not close(pull, expected / 2),
        "Half of the gradient. The penalty has no factor ½ in front, unlike that of FedProx.",
    )
    require(
        not close(pull, expected / 0.2),
        "λ is missing: your pull is as strong for λ = 0.2 as for λ = 1.",
    )
    require(
        not close(pull, -expected),
        "The sign is wrong: your clients are pushed away. The correction is added to the gradient, and a step goes "
        "against it.",
    )
    require(
        close(pull, expected),
        f"At a test point the gradient of the penalty is {shown(expected)}, and your a ⊙ (y − r) is {shown(pull)}.",
    )


EXERCISES = (
    Exercise(
        id="06-penalty",
        solution=penalty_correction,
        check=check_penalty_correction,
        mistakes=(
            Mistake("2 * strength", "strength", "no factor ½"),
            Mistake("2 * strength * importance", "2 * importance", "λ is missing"),
            Mistake("* importance, received", "* importance, 0 * received", "still where it started"),
            Mistake("2 * strength", "-2 * strength", "pushed away"),
            Mistake("2 * strength * importance", "2 * strength * importance**2", "At a test point"),
            Mistake("2 * strength * importance", "2 * strength + 0 * importance", "is free"),
            Mistake("* importance, received", "* importance", "Return two things"),
        ),
    ),
    Exercise(
        id="06-importance",
        solution=linear_importance,
        check=check_linear_importance,
        mistakes=(
            Mistake("np.abs(gradients)", "gradients", "negative entries"),
            Mistake("np.abs(gradients).mean(0)", "np.abs(gradients.mean(0))", "samples cancel"),
            Mistake("np.abs(gradients).mean(0)", "np.square(gradients).mean(0)", "squared gradients"),
            Mistake("2 * outputs", "outputs", "2 f f′"),
            Mistake(".mean(0)", ".sum(0)", "not a sum"),
            Mistake("np.abs(gradients)", "np.abs(gradients).transpose(0, 2, 1)", "must be an array of shape (2, 3)"),
        ),
    ),
)
