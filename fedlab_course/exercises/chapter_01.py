# mypy: allow-untyped-defs
"""Exercises of chapter 1: the distance between label mixes, the server's average, and where FedAvg stops."""

import numpy as np

from fedlab_course.exercises.base import Exercise, Mistake
from fedlab_course.exercises.tools import array, call, close, number, require, shown


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
    two = found([0, 0, 1, 1], [0, 1, 2, 3], 4)
    seen = f"Two labels of four: each of the four shares differs by 0.25, and you found {shown(two)}. "
    require(not close(two, 0.25), seen + "Take the sum over the labels, not the largest.")
    require(not close(two, 0.5), seen + "Half the sum is another distance, the total variation.")
    require(close(two, 1.0), seen + "Add them up.")


def server_average(local, num_samples):
    """The global parameters [P], from the clients' local [K, P] and num_samples [K]."""
    ### BEGIN SOLUTION
    return num_samples @ local / num_samples.sum()
    ### END SOLUTION


def check_server_average(answer):
    local, samples = np.array([[0.0, 6.0], [2.0, 3.0], [4.0, -3.0]]), np.array([10, 20, 30])

    def found(rows, counts):
        return array(call(answer, rows, counts), (2,))

    same = found(np.array([[1.0, 2.0]] * 3), samples)
    require(
        close(same, [1.0, 2.0]),
        f"All clients return [1, 2], and your average is {shown(same)}. Weights must sum to 1: divide by "
        "the sum of n_k.",
    )
    even = found(local, np.array([7, 7, 7]))
    order = found(local[::-1], np.array([7, 7, 7]))
    require(
        close(even, order),
        "Your result changes when the clients come in another order. Does the last one overwrite the others?",
    )
    result = found(local, samples)
    require(
        not close(result, local.mean(0)),
        "This is the plain mean. A client with three times the samples counts three times as much.",
    )
    require(
        close(result, [8 / 3, 0.5]),
        f"Clients [0, 6], [2, 3], [4, −3] with 10, 20 and 30 samples give [2.667, 0.5], and yours is {shown(result)}. "
        "The weight of client k is n_k / Σ n_j.",
    )


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
        "How much of its way to b_k does client k cover? What remains of the distance is q_k.",
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
        task=r"""Write the distance of Zhao et al. for one client: $\sum_c \lvert p_k(c) - p(c) \rvert$, where $p_k$ is
the label mix of the client and $p$ that of all clients together. `client_labels` and `all_labels` are
arrays of integer labels. `np.bincount` counts them.""",
        missing="the distance, one number",
        solution=label_distance,
        check=check_label_distance,
        mistakes=(
            Mistake("np.abs(mix - whole)", "(mix - whole)", "absolute values"),
            Mistake(".sum()", ".sum() / 2", "total variation"),
            Mistake(".sum()", ".max()", "not the largest"),
            Mistake(" / len(client_labels)", "", "shares of its own samples"),
            Mistake("np.abs(mix - whole)", "np.abs(mix - 1 / num_classes)", "need not be balanced"),
            Mistake("client_labels, minlength=num_classes", "client_labels", "an entry for each"),
        ),
    ),
    Exercise(
        id="01-average",
        title="The server's average",
        task=r"""The server has the parameters of $K$ clients as rows of an array, and their numbers of samples. Write
its average, $w = \sum_k n_k y_k / \sum_k n_k$, with NumPy, but without `np.average`.""",
        missing="the average, an array of length P",
        solution=server_average,
        check=check_server_average,
        mistakes=(
            Mistake("num_samples @ local / num_samples.sum()", "local.mean(0)", "plain mean"),
            Mistake(" / num_samples.sum()", "", "[60, 120]"),
            Mistake("num_samples.sum()", "len(num_samples)", "[20, 40]"),
            Mistake("num_samples @ local / num_samples.sum()", "local[-1]", "another order"),
            Mistake("num_samples @ local / num_samples.sum()", "local.mean()", "array of 2 numbers"),
        ),
    ),
    Exercise(
        id="01-resting-point",
        title="Where FedAvg stops",
        task=r"""In the chapter both quadratics count the same. Let client $k$ have the weight $\rho_k$, and write the
point where FedAvg comes to rest after $\tau$ full-batch steps per round:

$$w^\infty = \frac{\sum_k \rho_k (1 - q_k)\, b_k}{\sum_k \rho_k (1 - q_k)}, \qquad q_k = (1 - \eta a_k)^\tau.$$

Then ask your function: can a client with a small weight still pull the resting point to its side?""",
        missing="the resting point, one number",
        solution=resting_point,
        check=check_resting_point,
        points=2,
        mistakes=(
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = (1 - eta * a) ** tau", "What remains"),
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = eta * a * tau", "as a power"),
            Mistake("rho * part", "part", "Where do the weights"),
            Mistake(" / (rho * part).sum()", "", "sum of its weights"),
            Mistake("return (rho", "(rho", "`return` missing"),
        ),
    ),
)
