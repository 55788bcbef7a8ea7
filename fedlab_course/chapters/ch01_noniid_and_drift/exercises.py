# mypy: allow-untyped-defs
"""Exercises of chapter 1: the distance between label mixes, where FedAvg rests, and a proof on its two limits."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake
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
        solution=label_distance,
        check=check_label_distance,
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
    Exercise(
        id="01-resting-point",
        solution=resting_point,
        check=check_resting_point,
        mistakes=(
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = (1 - eta * a) ** tau", "What remains"),
            Mistake("part = 1 - (1 - eta * a) ** tau", "part = eta * a * tau", "as a power"),
            Mistake("rho * part", "part", "Where do the weights"),
            Mistake(" / (rho * part).sum()", "", "sum of its weights"),
            Mistake("return (rho", "(rho", "`return` missing"),
        ),
    ),
)
