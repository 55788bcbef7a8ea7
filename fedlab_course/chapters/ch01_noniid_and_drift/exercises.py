# mypy: allow-untyped-defs
"""Exercises of chapter 1: where FedAvg stops, and the distance between label mixes."""

import numpy as np

from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake

_ = translator(__name__)


def resting_point(a, b, rho, eta, tau):
    """Where FedAvg stops on F_k(w) = a_k/2 (w − b_k)² with tau local steps of rate eta.

    a, b and the weights rho are arrays with one entry per client.
    """
    ### BEGIN SOLUTION
    part = 1 - (1 - eta * a) ** tau
    return (rho * part * b).sum() / (rho * part).sum()
    ### END SOLUTION


def label_distance(client_labels, all_labels, num_classes):
    """Distance of a client's label mix from that of all clients together, from 0 to 2."""
    ### BEGIN SOLUTION
    mix = np.bincount(client_labels, minlength=num_classes) / len(client_labels)
    whole = np.bincount(all_labels, minlength=num_classes) / len(all_labels)
    return np.abs(mix - whole).sum()
    ### END SOLUTION


_LABEL_0, _PAIR, _SKEWED, _FOUR = (
    np.array(labels) for labels in ([0], [0, 1], [0, 0, 0, 1], [0, 1, 2, 3])
)
_MIXED = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2])
_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])
_HALF = np.array([0.5, 0.5])

_AFTER_10 = (1 - 0.7**10) / (2 - 0.9**10 - 0.7**10)

EXERCISES = (
    Exercise(
        id="01-resting-point",
        solution=resting_point,
        cases=(
            Case(
                (_A, np.array([2.0, 2.0]), _HALF, 0.1, 10),
                2,
                _("Both clients want w = 2, so FedAvg stops there."),
            ),
            Case((_A, _B, _HALF, 0.1, 1), 0.75, _("With one local step FedAvg finds the optimum.")),
            Case(
                (_A, _B, _HALF, 0.1, 1000),
                0.5,
                _("After 1000 steps every client has arrived at its own b_k."),
            ),
            Case(
                (_A, _B, np.array([0.8, 0.2]), 0.1, 1000),
                0.2,
                _("Clients arrive at their b_k, with ρ = (0.8, 0.2)."),
            ),
            Case(
                (_A, _B, _HALF, 0.1, 10),
                _AFTER_10,
                _("With ten steps the clients cover 1 − 0.9¹⁰ and 1 − 0.7¹⁰ of their way."),
            ),
            Case(
                (_A, _B, _HALF, 0.2, 2),
                0.7,
                _("With η = 0.2 and two steps the clients cover 0.36 and 0.84 of their way."),
            ),
            Case(
                (np.ones(3), np.array([0.0, 3.0, 6.0]), np.array([0.5, 0.25, 0.25]), 0.1, 4),
                2.25,
                _("Three clients with a = 1 stop at the weighted mean of their b_k."),
            ),
        ),
        mistakes=(
            Mistake(
                "1 - (1 - eta * a)",
                "(1 - eta * a)",
                _("(1 − η a_k)^τ is the part of the way that remains."),
            ),
            Mistake(
                "1 - (1 - eta * a) ** tau",
                "eta * a * tau",
                _("Do all steps of a client have the same length?"),
            ),
            Mistake("rho * part", "part", _("Your result does not depend on the weights ρ_k.")),
            Mistake(" / (rho * part).sum()", "", _("The weights of a mean must sum to 1.")),
        ),
    ),
    Exercise(
        id="01-emd",
        solution=label_distance,
        cases=(
            Case(
                (_PAIR, np.tile(_PAIR, 25), 2),
                0,
                _("The client has the mix of the whole, with fewer samples."),
            ),
            Case(
                (_SKEWED, np.tile(_SKEWED, 25), 2),
                0,
                _("Three of four labels are 0, at the client and in the whole."),
            ),
            Case(
                (_LABEL_0, _FOUR, 4),
                1.5,
                _("The client holds one of four equally frequent labels."),
            ),
            Case(
                (_MIXED, _FOUR, 4),
                0.8,
                _("The shares are 0.5, 0.4, 0.1, 0 at the client, and 0.25 each in the whole."),
            ),
            Case(
                (_LABEL_0, np.tile(_SKEWED, 25), 2),
                0.5,
                _("The client holds label 0 alone, which three of four samples of the whole have."),
            ),
        ),
        mistakes=(
            Mistake(
                "np.abs(mix - whole)",
                "(mix - whole)",
                _("Without absolute values the differences cancel."),
            ),
            Mistake(
                ".sum()", ".sum() / 2", _("Half the sum is another distance, the total variation.")
            ),
            Mistake(
                " / len(client_labels)", "", _("Is each mix made of shares of its own samples?")
            ),
            Mistake(
                "np.abs(mix - whole)",
                "np.abs(mix - 1 / num_classes)",
                _("Compare with the mix of the whole."),
            ),
            Mistake(
                "client_labels, minlength=num_classes",
                "client_labels",
                _("Has the mix an entry for each label?"),
            ),
            Mistake(
                "np.abs(mix - whole).sum()",
                "((mix - whole) ** 2).sum()",
                _("Take absolute values, not squares."),
            ),
        ),
    ),
)
