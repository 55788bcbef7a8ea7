# mypy: allow-untyped-defs
"""Exercises of chapter 4: weights of two kinds, the systematic draw, and where absent clients lead."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.tools import array, call, require


def resting_point(means, presence):
    """Where FedAvg comes to rest, from the clients' means e_k [N] and presences [N]."""
    ### BEGIN SOLUTION
    return presence @ means / presence.sum()
    ### END SOLUTION


def systematic(labels, start, num_drawn):
    """K = num_drawn of the N clients, from their strata labels [N] and a start below N/K."""
    ### BEGIN SOLUTION
    row = np.argsort(labels, kind="stable")
    interval = len(labels) // num_drawn
    return row[start::interval]
    ### END SOLUTION


_MEANS = np.array([0.0, 1.0, 2.0, 7.0])


def check_systematic(answer):
    labels = np.array([2, 0, 1, 0, 2, 1, 2, 0, 2, 1, 2, 2])  # strata of 3, 3 and 6 clients; N = 12

    def found(start, size):
        return array(call(answer, labels, start, size), (size,), "the cohort").astype(int)

    every = np.array([found(start, 4) for start in range(3)])
    require(every.max() > 2, "Your numbers are those of the strata, 0 to 2. Return numbers of clients, 0 to 11.")
    require(np.ptp(every, axis=0).any(), "Every start gives the same cohort. Begin with the client at place `start`.")
    counts = np.bincount(every.ravel(), minlength=12)[:12]
    wrong = int(np.argmax(counts != 1))
    require(
        (counts == 1).all(),
        f"Three starts draw each client once, and yours client {wrong} {counts[wrong]} times. Take every third.",
    )
    for cohort in every:
        shares = np.bincount(labels[cohort], minlength=3).tolist()
        require(
            shares == [1, 1, 2],
            f"From strata of 3, 3 and 6 clients come 1, 1 and 2, not {shares}. Are they in a row stratum by stratum?",
        )
    pairs = np.concatenate([found(start, 2) for start in range(6)])
    require(
        sorted(pairs.tolist()) == list(range(12)),
        "Yours is right for K = 4. For K = 2 the interval is N/K = 6, and six starts must draw each client once.",
    )


EXERCISES = (
    Exercise(
        id="04-systematic",
        solution=systematic,
        check=check_systematic,
        mistakes=(
            Mistake('row = np.argsort(labels, kind="stable")', "row = np.arange(len(labels))", "in a row stratum"),
            Mistake('np.argsort(labels, kind="stable")', "np.sort(labels)", "those of the strata"),
            Mistake("row[start::interval]", "row[0::interval]", "Every start gives the same"),
            Mistake("row[start::interval]", "row[start : start + num_drawn]", "Take every third"),
            Mistake("len(labels) // num_drawn", "3", "an array of 2 numbers"),
        ),
    ),
    Exercise(
        id="04-rest",
        solution=resting_point,
        cases=(
            Case((_MEANS, np.array([0.5, 0.5, 0.5, 0.5])), 2.5, "All clients are present half of the time."),
            Case((_MEANS, np.array([1.0, 1.0, 1.0, 0.0])), 1, "The client with mean 7 is never present."),
            Case((_MEANS, np.array([1.0, 1.0, 1.0, 0.2])), 4.4 / 3.2, "The presences are 1, 1, 1 and 0.2."),
        ),
        mistakes=(
            Mistake(" / presence.sum()", "", "The weights of a mean must sum to 1."),
            Mistake("presence.sum()", "len(means)", "No client is preferred here. What is the sum of your weights?"),
            Mistake("presence @ means / presence.sum()", "means.mean()", "Your result is the same for all presences."),
        ),
    ),
)
