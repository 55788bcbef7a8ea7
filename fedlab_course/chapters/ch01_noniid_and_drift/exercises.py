# mypy: allow-untyped-defs
"""Exercises of chapter 1: the distance between label mixes, where FedAvg rests, and a proof on its two limits."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import call, close, number, require, shown


def label_distance(client_labels, all_labels, num_classes):
    """Distance of a client's label mix from that of all clients together, from 0 to 2."""
    ### BEGIN SOLUTION
    mix = np.bincount(client_labels, minlength=num_classes) / len(client_labels)
    whole = np.bincount(all_labels, minlength=num_classes) / len(all_labels)
    return np.abs(mix - whole).sum()
    ### END SOLUTION


def check_label_distance(answer):
    def found(client, everybody, classes):
        return number(call(answer, np.array(client), np.array(everybody), classes))

    require(
        close(found([0, 1], [0, 1] * 25, 2), 0.0),
        "A client with the mix of the whole has distance 0, however many samples it has. "
        "Is each mix made of shares of its own samples?",
    )
    require(
        close(found([0, 0, 0, 1], [0, 0, 0, 1] * 25, 2), 0.0),
        "Three quarters zeros at the client and three quarters zeros in the whole: the distance is 0. "
        "Compare with the mix of the whole, which need not be balanced.",
    )
    one = found([0], list(range(10)), 10)
    require(
        not close(one, 0.0),
        "A client that holds one label of ten cannot have distance 0. "
        "Shares sum to 1, so without absolute values the differences cancel.",
    )
    require(
        one <= 2.0,
        f"The distance is at most 2, and you found {shown(one)}. A label that the client does not hold has the "
        "share 0: does your mix have an entry for each of the `num_classes` labels?",
    )
    mixed = found([0] * 5 + [1] * 4 + [2], [0, 1, 2, 3], 4)
    seen = f"Shares of 0.5, 0.4, 0.1 and 0 against 0.25 each, and you found {shown(mixed)}. "
    require(not close(mixed, 0.25), seen + "Take the sum over the labels, not the largest.")
    require(not close(mixed, 0.4), seen + "Half the sum is another distance, the total variation.")
    require(
        not close(mixed, 0.55),
        seen + "You add up the labels that the client holds. The fourth counts too: the client's share of it is 0, and "
        "that of the whole is not.",
    )
    root = 0.17**0.5
    require(
        not (close(mixed, root) or close(mixed, 2 * root)),
        seen + "The root of a sum of squares is the Euclidean distance. Take absolute values, and no squares.",
    )
    require(not close(mixed, 0.17), seen + "Take absolute values, and no squares.")
    require(close(mixed, 0.8), seen + "The four absolute differences are 0.25, 0.15, 0.15 and 0.25. Add them up.")


def resting_point(a, b, rho, eta, tau):
    """Where FedAvg stops on f_k(w) = a_k/2 (w − b_k)² with tau local steps of rate eta.

    a, b and the weights rho are arrays with one entry per client.
    """
    ### BEGIN SOLUTION
    part = 1 - (1 - eta * a) ** tau
    return (rho * part * b).sum() / (rho * part).sum()
    ### END SOLUTION


def check_resting_point(answer):
    a, b, half = np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([0.5, 0.5])
    uneven = np.array([0.8, 0.2])

    def found(rho, tau, centres=b):
        return number(call(answer, a, centres, rho, 0.1, tau))

    agreed = found(half, 10, np.array([2.0, 2.0]))
    require(
        close(agreed, 2.0),
        f"Two clients that both want w = 2 should stop at 2, and yours stop at {shown(agreed)}. "
        "A weighted mean is divided by the sum of its weights.",
    )
    once, long = found(half, 1), found(half, 1000)
    require(
        close(once, 0.75),
        f"With one local step FedAvg finds the optimum 0.75, and yours stops at {shown(once)}. "
        "How much of its way to b_k does client k cover? What remains of the distance is 1 − s_k.",
    )
    require(
        close(long, 0.5),
        f"After very many steps every client has arrived at b_k, and FedAvg stops at their mean 0.5. Yours stops at "
        f"{shown(long)}: does the number of local steps enter as a power?",
    )
    tilted = found(uneven, 1000)
    require(
        close(tilted, 0.2),
        f"With ρ = (0.8, 0.2) and clients that arrive, FedAvg stops at 0.2, and yours at {shown(tilted)}. "
        "Where do the weights ρ_k enter?",
    )
    middle = found(half, 10)
    require(close(middle, 0.5987111211), f"For τ = 10 the chapter found 0.5987, and yours is {shown(middle)}.")


EXERCISES = (
    Exercise(
        id="01-emd",
        title="The distance between two mixes",
        task=r"""Write the EMD of one client: $\sum_c \lvert p_k(c) - p(c) \rvert$, where $p_k$ is the label mix of the
client and $p$ that of all clients together. `client_labels` and `all_labels` are arrays of integer labels.
`np.bincount` counts them. What is the distance of a client that holds a single one of ten equally frequent labels?""",
        missing="the distance, one number",
        solution=label_distance,
        check=check_label_distance,
        discussion="""We observe 0.9 for the label that the client holds and 0.1 for each of the nine that it does not,
1.8 together. The labels that are missing make up one half of every such distance: both mixes sum to 1, so what one has
too much of, it has too little of elsewhere.""",
        mistakes=(
            Mistake("np.abs(mix - whole)", "(mix - whole)", "absolute values"),
            Mistake(".sum()", ".sum() / 2", "total variation"),
            Mistake(".sum()", ".max()", "not the largest"),
            Mistake(" / len(client_labels)", "", "shares of its own samples"),
            Mistake("np.abs(mix - whole)", "np.abs(mix - 1 / num_classes)", "need not be balanced"),
            Mistake("client_labels, minlength=num_classes", "client_labels", "an entry for each"),
            Mistake("np.abs(mix - whole).sum()", "2 * np.sqrt(((mix - whole) ** 2).sum())", "Euclidean distance"),
            Mistake("np.abs(mix - whole).sum()", "((mix - whole) ** 2).sum()", "and no squares"),
            Mistake("np.abs(mix - whole)", "np.abs(mix - whole)[mix > 0]", "The fourth counts too"),
        ),
    ),
    Proof(
        id="01-two-limits",
        title="One step, and very many",
        task=r"""Show from the formula for $w^\infty$, with pencil and paper, that FedAvg rests

1. at the optimum $w^\star$ if every client makes $\tau = 1$ step;
2. at the weighted mean $\sum_k \rho_k b_k$ of the minima if $\tau \to \infty$ and $0 < \eta a_k < 1$ for all $k$;
3. at the optimum for every $\tau$, if all $a_k$ are equal and all clients make the same number of steps.

Where does your third proof fail if one client makes 10 steps and the other 2?""",
        solution=r"""1. For $\tau = 1$ a client covers the part $s_k = 1 - (1 - \eta a_k) = \eta a_k$ of its way. The
   factor $\eta$ cancels, and $w^\infty = \sum_k \rho_k a_k b_k / \sum_k \rho_k a_k$. This is $w^\star$, for
   $F'(w) = \sum_k \rho_k a_k (w - b_k)$ vanishes there and nowhere else.
2. From $0 < \eta a_k < 1$ it follows that $(1 - \eta a_k)^\tau \to 0$, so $s_k \to 1$ for every client, and what is
   left is $\sum_k \rho_k b_k / \sum_k \rho_k = \sum_k \rho_k b_k$. The curvatures have no say any more.
3. Equal $a_k$ and equal $\tau$ make all $s_k$ equal, and they cancel: $w^\infty = \sum_k \rho_k b_k$. With equal
   $a_k$ this is also $w^\star$, since the $a_k$ cancel there.

With $\tau = (10, 2)$ the $s_k$ differ although the curvatures do not: with $a_k = 2$ and $\eta = 0.1$ they are
$1 - 0.8^{10} = 0.893$ and $1 - 0.8^2 = 0.36$, and FedAvg rests at $0.36 / 1.253 = 0.287$ instead of 0.5. The
client that works more pulls more.""",
    ),
    Exercise(
        id="01-resting-point",
        title="Where FedAvg rests",
        task=r"""In the chapter both quadratics count the same. Let client $k$ have the weight $\rho_k$, and write the
point where FedAvg comes to rest after $\tau$ full-batch steps per round:

$$w^\infty = \frac{\sum_k \rho_k s_k b_k}{\sum_k \rho_k s_k}, \qquad s_k = 1 - (1 - \eta a_k)^\tau.$$

Then ask your function: can a client with a small weight still pull the resting point to its side?""",
        missing="the resting point, one number",
        solution=resting_point,
        check=check_resting_point,
        points=2,
        discussion=r"""We observe that what pulls is the product $\rho_k s_k$, so a small weight can be made up for by a
steep valley, as long as the others cover only a small part of their way. With $a = (0.1, 9)$, $b = (0, 1)$,
$\rho = (0.9, 0.1)$ and $\eta = 0.1$, ten steps take the first client a tenth of its way, $s_1 = 0.096$, and the second
all of it, $s_2 = 1.000$. FedAvg rests at 0.54, on the side of the client with a tenth of the data. The optimum, 0.91,
lies further there still. With more steps the first client arrives too, and the pull of the second falls to its weight:
0.1 for $\tau \to \infty$.""",
        mistakes=(
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = (1 - eta * a) ** tau", "What remains"),
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = eta * a * tau", "as a power"),
            Mistake("rho * part", "part", "Where do the weights"),
            Mistake(" / (rho * part).sum()", "", "sum of its weights"),
            Mistake("return (rho", "(rho", "`return` missing"),
        ),
    ),
)
