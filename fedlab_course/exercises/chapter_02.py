# mypy: allow-untyped-defs
"""Exercises of chapter 2: a step of FedProx, a client's local training, and FedNova's average."""

import numpy as np

from fedlab_course.exercises.base import Exercise, Mistake
from fedlab_course.exercises.tools import array, call, close, require, shown


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


def fednova(w, local, num_samples, num_steps):
    """The new global parameters [P], from w [P] and the clients' local [K, P].

    num_samples and num_steps are arrays with one entry per client.
    """
    ### BEGIN SOLUTION
    p = num_samples / num_samples.sum()
    moves = (local - w) / num_steps[:, None]
    return w + (p @ num_steps) * (p @ moves)
    ### END SOLUTION


def check_fednova(answer):
    w, local = np.array([1.0, 0.0]), np.array([[2.0, 3.0], [0.0, 1.0]])
    even, samples, steps = np.array([5, 5]), np.array([30, 10]), np.array([10, 2])

    def found(counts, taken):
        return array(call(answer, w, local, counts, taken), (2,))

    stay = array(call(answer, w, np.array([w, w]), samples, steps), (2,))
    require(close(stay, w), f"If no client moves, the model must stay at {shown(w)}. Yours goes to {shown(stay)}.")
    plain, equal = local.mean(0), found(even, even)
    require(
        close(equal, plain),
        f"With equal samples and equal steps FedNova is FedAvg, the plain mean {shown(plain)}. Yours is "
        f"{shown(equal)}: after dividing by τ_k, the mean move must be multiplied by the average number of steps, "
        "and by nothing else.",
    )
    require(
        close(found(samples, even), samples @ local / 40),
        "With equal steps FedNova is FedAvg, where a client counts by its samples. Yours are not weighted by p_k.",
    )
    result = found(even, steps)
    require(
        not close(result, plain),
        "This is FedAvg: the steps τ_k change nothing in your result. Divide each move by its own number of steps.",
    )
    expected = w + 6 * np.mean([(local[0] - w) / 10, (local[1] - w) / 2], axis=0)
    require(
        close(result, expected),
        f"Two clients with 10 and 2 steps lead to {shown(expected)}, and yours to {shown(result)}. "
        "A client that walked ten steps counts one tenth of its move.",
    )
    full = found(samples, steps)
    right = w + 8 * (0.75 * (local[0] - w) / 10 + 0.25 * (local[1] - w) / 2)
    require(
        close(full, right),
        "Right for equal samples, but not for unequal ones: τ_eff is the mean of the τ_k weighted by p_k.",
    )


EXERCISES = (
    Exercise(
        id="02-prox-step",
        title="One local step",
        task=r"""Write one local step of FedProx. The client stands at `y`, the round started at `w`, and `gradient` is
$\nabla F_k(y)$. All three are arrays of one length. Before you run the check: what must your function
return for $\mu = 0$, and what for $y = w$?""",
        missing="the local parameters after the step",
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
        title="A round at the client",
        task=r"""Now a whole local run: `num_steps` steps from $w$. `gradient` is a function that returns the gradient
at the point it is given. Take care that the anchor stays where it is while the client moves.""",
        missing="the local parameters after the last step",
        solution=local_training,
        check=check_local_training,
        points=2,
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
        id="02-fednova",
        title="FedNova's average",
        task=r"""Write the server of FedNova. The rows of `local` are the $y_k$, and the clients made `num_steps` steps:

$$w \leftarrow w + \tau_\text{eff} \sum_k p_k \frac{y_k - w}{\tau_k}, \qquad
p_k = \frac{n_k}{\sum_j n_j}, \quad \tau_\text{eff} = \sum_k p_k \tau_k.$$""",
        missing="the new global parameters, an array of length P",
        solution=fednova,
        check=check_fednova,
        points=2,
        mistakes=(
            Mistake("(p @ num_steps) * (p @ moves)", "p @ moves", "multiplied by the average number of steps"),
            Mistake("num_samples / num_samples.sum()", "np.ones(len(local)) / len(local)", "not weighted by p_k"),
            Mistake("(p @ num_steps) * (p @ moves)", "p @ (local - w)", "This is FedAvg"),
            Mistake("p @ num_steps", "num_steps.mean()", "weighted by p_k"),
            Mistake("return w + ", "return ", "If no client moves"),
            Mistake("[:, None]", "", "one tenth of its move"),
        ),
    ),
)
