# mypy: allow-untyped-defs
"""Exercises of chapter 7: importance, the penalty as a correction, the stability bound and the bytes of FedMas."""

import numpy as np

from fedlab_course.exercises.base import Exercise, Hint, Mistake
from fedlab_course.exercises.tools import array, call, close, number, require, shown


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
    """The weight a and the anchor r for which a ⊙ (y − r) is the gradient of λ Σ Ω (y − w*)²."""
    ### BEGIN SOLUTION
    return 2 * strength * importance, received
    ### END SOLUTION


def check_penalty_correction(answer):
    importance, received = np.array([0.0, 0.5, 3.0]), np.array([1.0, -1.0, 2.0])
    result = call(answer, importance, received, 0.2)
    if not isinstance(result, tuple) or len(result) != 2:
        raise Hint("Return two things, the weight and the anchor: `return weight, anchor`.")
    weight, anchor = array(result[0], (3,), "the weight"), array(result[1], (3,), "the anchor")
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
        "Half of the gradient. The penalty of FedMas has no factor ½ in front, unlike that of FedProx.",
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


def largest_strength(importance, lr):
    """The λ at which local steps with the penalty stop being stable."""
    ### BEGIN SOLUTION
    return 1 / (lr * importance.max())
    ### END SOLUTION


def check_largest_strength(answer):
    importance = np.array([0.1, 4.0, 1.0])
    result = number(call(answer, importance, 0.01))
    require(
        not close(result, 2 / (0.01 * 4.0)),
        "Twice too large. The gradient of λ Ω (y − w*)² is 2 λ Ω (y − w*): the 2 belongs into the bound.",
    )
    require(
        not close(result, 1 / 4.0) and not close(result, 1 / (4.0 * 0.01) ** 2),
        "How does η enter? Half the learning rate allows for twice the λ.",
    )
    require(
        not close(result, 1 / (0.01 * importance.mean())),
        "At this λ the mean parameter is at the edge, and some are beyond it. One parameter that diverges is enough "
        "to lose the model.",
    )
    require(
        not close(result, 1 / (0.01 * importance.min())),
        "This λ is safe for the least important parameter only. Which parameter diverges first?",
    )
    distance = 1.0
    for _ in range(50):
        distance *= abs(1 - 0.01 * 2 * result * importance.max())
    require(
        close(distance, 1.0, 1e-6),
        f"At your λ = {shown(result)} a step multiplies the distance of the most important parameter from w* by "
        f"{shown(1 - 0.01 * 2 * result * importance.max())}. At the edge of stability this factor is −1.",
    )
    require(
        close(number(call(answer, 10 * importance, 0.002)), 1 / (0.002 * 40.0)),
        "Right once, and wrong for another Ω and another η.",
    )


def values_sent(sampled, num_parameters):
    """How many numbers a round of FedMas sends down and up, once there is an Ω: (down, up).

    sampled: for each tier, how many of its clients train.
    """
    ### BEGIN SOLUTION
    tiers, clients = len(sampled), sum(sampled)
    down = 2 * clients * num_parameters + tiers * num_parameters
    up = clients * num_parameters + tiers * num_parameters
    return down, up
    ### END SOLUTION


def check_values_sent(answer):
    result = call(answer, [3], 10)
    if not isinstance(result, tuple) or len(result) != 2:
        raise Hint("Return two numbers, down and up: `return down, up`.")
    down, up = number(result[0], "down"), number(result[1], "up")
    require((down, up) != (80, 70), "You have mixed up down and up: Ω goes down to every client that trains.")
    require(down not in (30, 40), "Each client that trains needs Ω beside the model, or it cannot form the penalty.")
    require(down != 60, "One more client is sent the new model, to measure Ω at it.")
    require(up != 60, "Only one client of a tier sends an Ω; the others send their models.")
    require(up != 30, "The client that measured Ω has to send it to the server.")
    require(
        (down, up) == (70, 40),
        f"One tier with 3 clients and 10 parameters sends 70 numbers down and 40 up. Yours are {down:g} and {up:g}.",
    )
    several = call(answer, [3, 1, 2], 10)
    require(
        (several[0], several[1]) == (150, 90),
        f"Right for one tier. Three tiers with 3, 1 and 2 clients measure three times: 150 numbers down and 90 up. "
        f"Yours are {several[0]:g} and {several[1]:g}.",
    )


EXERCISES = (
    Exercise(
        id="07-penalty",
        title="The penalty as a correction",
        task=r"""Every algorithm of the course is a correction $g + a \odot (y - r) + d$ of the local gradient. Return
the weight $a$ and the anchor $r$ that give the gradient of FedMas's penalty
$\lambda \sum_p \Omega_p (y_p - w^*_p)^2$. `received` is $w^*$, the model as the tier receives it. Compare
with FedProx: which of the two, $\Omega$ or $\mu$, may differ from parameter to parameter?""",
        missing="the weight and the anchor",
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
        id="07-importance",
        title="Importance by hand",
        task=r"""For one sample, a linear model $f(x) = W x$ has
$\partial \lVert f(x) \rVert^2 / \partial W_{ij} = 2 (Wx)_i\, x_j$. Write its $\Omega$, the mean over the samples of
the absolute value of that. Before you run the check, think of two samples whose gradients are opposite:
what must $\Omega$ be?""",
        missing="the importance of each weight",
        solution=linear_importance,
        check=check_linear_importance,
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
    Exercise(
        id="07-bound",
        title="The largest λ",
        task=r"""Suppose that only the penalty pulls on a parameter. A local step then multiplies its distance
from $w^*$ by $1 - 2 \eta \lambda \Omega_p$. Write the $\lambda$ beyond which one of the parameters runs away.""",
        missing="the largest λ",
        solution=largest_strength,
        check=check_largest_strength,
        mistakes=(
            Mistake("1 / (lr", "2 / (lr", "Twice too large"),
            Mistake("lr * importance.max()", "importance.max()", "How does η enter"),
            Mistake("importance.max()", "importance.mean()", "some are beyond it"),
            Mistake("importance.max()", "importance.min()", "diverges first"),
            Mistake("1 / (lr * importance.max())", "lr * importance.max()", "this factor is −1"),
            Mistake("importance.max()", "4.0", "another Ω"),
        ),
    ),
    Exercise(
        id="07-bytes",
        title="What a round sends",
        task=r"""In a round of FedMas each tier does this: its sampled clients receive $w$ and $\Omega$ and send
their $y_k$; then one client receives the new $w$ and sends the new $\Omega$. Count the numbers that a round
sends down and up. Then compare with FedAvg on as many clients: is it more than twice as much?""",
        missing="the numbers sent down and up",
        solution=values_sent,
        check=check_values_sent,
        mistakes=(
            Mistake("2 * clients", "clients", "needs Ω beside"),
            Mistake(
                "down = 2 * clients * num_parameters + tiers * num_parameters",
                "down = 2 * clients * num_parameters",
                "One more client",
            ),
            Mistake(
                "up = clients * num_parameters + tiers * num_parameters", "up = clients * num_parameters", "to send it"
            ),
            Mistake("up = clients", "up = 2 * clients", "are 70 and 70"),
            Mistake("up = clients * num_parameters + tiers", "up = clients * num_parameters + clients", "Only one"),
            Mistake("tiers, clients = len(sampled)", "tiers, clients = 1", "measure three times"),
            Mistake("return down, up", "return down + up", "Return two numbers"),
        ),
    ),
)
