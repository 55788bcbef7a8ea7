# mypy: allow-untyped-defs
"""Exercises of chapter 11: what dropping throws away, FedNova's average, and where unequal work leads."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, call, close, number, require, shown


def work_lost(share, num_epochs):
    """The part of all epochs that is thrown away if stragglers' unfinished work is dropped.

    A client is a straggler with probability share, and a straggler does 1 ... num_epochs epochs,
    each number with the same probability. Who does all of them has finished.
    """
    ### BEGIN SOLUTION
    epochs = np.arange(1, num_epochs + 1)
    chance = np.full(num_epochs, share / num_epochs)
    chance[-1] += 1 - share
    return (chance * epochs)[:-1].sum() / (chance * epochs).sum()
    ### END SOLUTION


def check_work_lost(answer):
    def found(share, num_epochs):
        return number(call(answer, share, num_epochs))

    require(close(found(0.0, 5), 0.0), "Without stragglers nothing is lost.")
    require(
        close(found(0.9, 1), 0.0),
        "With one epoch a straggler does 1 … 1 epochs: it finishes, and nothing is lost. Who counts as unfinished?",
    )
    all_two = found(1.0, 2)
    require(
        not close(all_two, 0.5),
        "With two epochs and stragglers only, half of the clients are dropped, and they did one epoch while the others "
        "did two. Count epochs, not clients.",
    )
    require(
        not close(all_two, 1.0),
        "With two epochs and stragglers only, your count loses everything. A straggler may also do all epochs.",
    )
    require(
        close(all_two, 1 / 3),
        f"With two epochs and stragglers only, one client does one epoch for each that does two: one third is lost, "
        f"and yours says {shown(all_two)}. What do you divide by?",
    )
    mixed = found(0.5, 2)
    require(
        close(mixed, 1 / 7),
        f"With two epochs and half of the clients stragglers, a quarter does one epoch and the others two: 1/7 is lost "
        f"and yours says {shown(mixed)}. Who is no straggler does all epochs.",
    )
    require(close(found(0.9, 5), 0.5625), f"Right for two epochs, but for five yours says {shown(found(0.9, 5))}.")


def fednova(w, local, num_samples, num_steps):
    """The new global parameters [P], from w [P] and the clients' local [K, P].

    num_samples and num_steps are arrays with one entry per client.
    """
    ### BEGIN SOLUTION
    rho = num_samples / num_samples.sum()
    moves = (local - w) / num_steps[:, None]
    return w + (rho @ num_steps) * (rho @ moves)
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
        "With equal steps FedNova is FedAvg, where a client counts by its samples. Yours are not weighted by ρ_k.",
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
        "Right for equal samples, but not for unequal ones: τ_eff is the mean of the τ_k weighted by ρ_k.",
    )


EXERCISES = (
    Exercise(
        id="11-work-lost",
        title="What dropping throws away",
        task=r"""With probability `share` a client is a straggler, and a straggler does one to `num_epochs` epochs, each
number with the same probability. All others do `num_epochs`. Which part of all epochs done is lost if the server
drops who has not finished? Before you compute it for 90 % and five epochs: is it more or less than a half?""",
        missing="the part that is lost, a number from 0 to 1",
        solution=work_lost,
        check=check_work_lost,
        mistakes=(
            Mistake("(chance * epochs)[:-1].sum() / (chance * epochs).sum()", "chance[:-1].sum()", "Count epochs"),
            Mistake("chance[-1] += 1 - share", "chance[-1] = 1 - share", "may also do all"),
            Mistake("[:-1].sum()", ".sum()", "Without stragglers"),
            Mistake(" / (chance * epochs).sum()", " / num_epochs", "What do you divide by"),
            Mistake("share / num_epochs", "share / max(num_epochs - 1, 1)", "is no straggler"),
        ),
        discussion=r"""For 90 % and five epochs it is 0.5625, more than a half, although a straggler does three epochs
on average. With the share of stragglers $x$ the lost epochs are $x (E - 1) / 2$ per client on average, of
$E - x (E - 1) / 2$ that are done.""",
    ),
    Exercise(
        id="11-fednova",
        title="FedNova's average",
        task=r"""Write the server of FedNova by the formula above. The rows of `local` are the $y_k$ of the cohort, and
the clients made `num_steps` steps. What must come out if all made the same number of steps?""",
        missing="the new global parameters, an array of length P",
        solution=fednova,
        check=check_fednova,
        points=2,
        mistakes=(
            Mistake("(rho @ num_steps) * (rho @ moves)", "rho @ moves", "multiplied by the average number of steps"),
            Mistake("num_samples / num_samples.sum()", "np.ones(len(local)) / len(local)", "not weighted by ρ_k"),
            Mistake("(rho @ num_steps) * (rho @ moves)", "rho @ (local - w)", "This is FedAvg"),
            Mistake("rho @ num_steps", "num_steps.mean()", "weighted by ρ_k"),
            Mistake("return w + ", "return ", "If no client moves"),
            Mistake("[:, None]", "", "one tenth of its move"),
        ),
        discussion=r"""If all made the same number of steps it must be FedAvg: $\tau_\text{eff}$ cancels what was
divided by. So all that FedNova changes is the balance between clients that did unequal work.""",
    ),
    Proof(
        id="11-other-objective",
        title="Another objective",
        task=r"""All clients take part in each round with $F_k(y) = \frac{a_k}{2} (y - b_k)^2$ and weights $\rho_k$, and
client $k$ makes $\tau_k$ full-batch steps with rate $\eta$.

1. Show that for $\eta \to 0$ FedAvg comes to rest where $\sum_k \rho_k \tau_k F_k$ is lowest.
2. Show that FedNova then comes to rest at $w^\star$, where $\sum_k \rho_k F_k$ is lowest.
3. Now $\eta$ stays as it is and all $\tau_k$ are equal. Which of the two still errs?""",
        solution=r"""1. A client covers $s_k = 1 - (1 - \eta a_k)^{\tau_k}$ of its way, which is
$\eta a_k \tau_k$ up to terms in $\eta^2$, and FedAvg rests at $\sum_k \rho_k s_k b_k / \sum_k \rho_k s_k$. We divide
numerator and denominator by $\eta$ and let it go to zero: the limit is
$\sum_k \rho_k \tau_k a_k b_k / \sum_k \rho_k \tau_k a_k$, and there the derivative of
$\sum_k \rho_k \tau_k F_k$, which is $\sum_k \rho_k \tau_k a_k (w - b_k)$, is zero.
2. FedNova moves by $\tau_\text{eff} \sum_k \rho_k s_k (b_k - w) / \tau_k$. It rests where the sum is zero, so
$s_k / \tau_k$, which is $\eta a_k$ up to terms in $\eta^2$, takes the place of $s_k$. The limit is
$\sum_k \rho_k a_k b_k / \sum_k \rho_k a_k = w^\star$.
3. Both, and they are the same: with equal $\tau_k$ the factor $1/\tau_k$ cancels. Unless all $a_k$ are equal,
$1 - (1 - \eta a_k)^\tau$ is not proportional to $a_k$ for $\tau > 1$: that is drift, and no division by $\tau_k$
removes it. $\square$""",
    ),
)
