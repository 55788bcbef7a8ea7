# mypy: allow-untyped-defs
"""Exercises of chapter 6: where the penalty is exact, as a correction, and importance."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
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
    Proof(
        id="06-laplace",
        title="Where the penalty is exact",
        task=r"""Two tasks have quadratic losses in one parameter, $F_1(y) = \frac{a_1}{2} (y - b_1)^2$ and
$F_2(y) = \frac{a_2}{2} (y - b_2)^2$ with $a_1, a_2 > 0$, and as many samples. The first task has been learned to its
end, $r = b_1$, and its importance is its curvature, $I = a_1$. Show that the penalty with $\lambda = \frac12$ leads
the second task to the minimum of $F_1 + F_2$, though nobody keeps the first task's data. Where does the second task end
for $\lambda \to 0$ and for $\lambda \to \infty$?""",
        solution=r"""The second task minimises $F_2(y) + \lambda a_1 (y - b_1)^2$. Its gradient is
$a_2 (y - b_2) + 2 \lambda a_1 (y - b_1)$, which is zero at

$$y = \frac{a_2 b_2 + 2 \lambda a_1 b_1}{a_2 + 2 \lambda a_1} .$$

With $\lambda = \frac12$ this is $\frac{a_1 b_1 + a_2 b_2}{a_1 + a_2}$, where
$a_1 (y - b_1) + a_2 (y - b_2) = 0$: the minimum of the sum. Nothing was approximated, because a quadratic is its own
expansion to second order. For $\lambda \to 0$ we find $b_2$, and the first task is forgotten; for
$\lambda \to \infty$ we find $b_1$, and the second is never learned. In several parameters the same holds with the
full matrix of curvature in place of $a_1$; a diagonal is exact only if the matrix is diagonal.""",
    ),
    Exercise(
        id="06-penalty",
        title="The penalty as a correction",
        task=r"""Every penalty of this chapter is a correction $g + a \odot (y - r) + d$ of the local gradient. Return
the weight $a$ and the anchor $r$ that give the gradient of the penalty
$\lambda \sum_i \Omega_i (y_i - w_i)^2$. `received` is $w$, the model as the client receives it. Compare
with FedProx: which of the two, $\Omega$ or $\mu$, may differ from parameter to parameter?""",
        missing="the weight and the anchor",
        solution=penalty_correction,
        check=check_penalty_correction,
        discussion=r"""We observe that the gradient of the penalty is $2 \lambda \Omega \odot (y - w)$, so
$a = 2 \lambda \Omega$ and $r = w$. FedProx has one number $\mu$ for all parameters, so it is the case
$2 \lambda \Omega_i = \mu$ for every $i$. $\Omega$ may differ from parameter to parameter, $\mu$ may not.""",
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
        title="Importance by hand",
        task=r"""For one sample, a linear model $f(x) = W x$ has
$\partial \lVert f(x) \rVert^2 / \partial W_{ij} = 2 (Wx)_i\, x_j$. Write its $\Omega$, the mean over the samples of
the absolute value of that. Before you run the check, think of two samples whose gradients are opposite:
what must $\Omega$ be?""",
        missing="the importance of each weight",
        solution=linear_importance,
        check=check_linear_importance,
        discussion=r"""Two samples whose gradients are opposite have the same absolute values, so $\Omega$ is what
it is for one of them. With the absolute value outside the mean it would be zero: the model would call a weight
unimportant because two samples need it in opposite directions.""",
        points=2,
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
