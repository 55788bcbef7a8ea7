# mypy: allow-untyped-defs
"""Exercises of chapter 4: weights of two kinds, the systematic draw, and where absent clients lead."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.tools import array, call, close, number, require, shown


def resting_point(means, presence):
    """Where FedAvg comes to rest, from the clients' means e_k [N] and presences [N]."""
    ### BEGIN SOLUTION
    return presence @ means / presence.sum()
    ### END SOLUTION


def check_resting_point(answer):
    means = np.array([0.0, 1.0, 2.0, 7.0])

    def found(presence, means=means):
        return number(call(answer, means, np.array(presence)))

    full = found([1.0, 1.0, 1.0, 1.0])
    require(
        close(full, 2.5),
        f"All clients are always there, so FedAvg comes to rest at the mean 2.5, and yours at {shown(full)}. "
        "Weights must sum to 1.",
    )
    half = found([0.5, 0.5, 0.5, 0.5])
    require(
        close(half, 2.5),
        f"All clients are there half of the time. None is preferred, so the rest is 2.5 again, and yours is "
        f"{shown(half)}: divide by the sum of the presences, not by N.",
    )
    gone = found([1.0, 1.0, 1.0, 0.0])
    require(
        not close(gone, 2.5),
        "The client with mean 7 is never there, and your result is still the mean of all four. Do the presences enter?",
    )
    require(
        close(gone, 1.0),
        f"The client with mean 7 is never there: the rest is the mean of the others, 1. Yours is {shown(gone)}. "
        "A client counts in proportion to how often it is there.",
    )
    rare = found([1.0, 1.0, 1.0, 0.2])
    require(
        close(rare, 4.4 / 3.2),
        f"With the presences 1, 1, 1 and 0.2 the rest is {shown(4.4 / 3.2)}, and yours is {shown(rare)}: a client "
        "that is there one time in five counts one fifth of another.",
    )


def systematic(labels, start, num_drawn):
    """K = num_drawn of the N clients, from their strata labels [N] and a start below N/K."""
    ### BEGIN SOLUTION
    row = np.argsort(labels, kind="stable")
    interval = len(labels) // num_drawn
    return row[start::interval]
    ### END SOLUTION


def check_systematic(answer):
    labels = np.array([2, 0, 1, 0, 2, 1, 2, 0, 2, 1, 2, 2])  # strata of 3, 3 and 6 clients; N = 12

    def found(start, size, groups=labels):
        return array(call(answer, groups, start, size), (size,), "the cohort").astype(int)

    every = np.concatenate([found(start, 4) for start in range(3)])
    require(
        every.max() > 2,
        "Your numbers are those of the strata, 0 to 2. Return the numbers of the clients, 0 to 11.",
    )
    require(
        not (np.diff(every.reshape(3, 4), axis=0) == 0).all(),
        "Every start gives the same cohort. Begin with the client at place `start`.",
    )
    counts = np.bincount(every, minlength=12)[:12]
    require(
        (counts == 1).all(),
        f"With N = 12 and K = 4 there are three starts, and together they must draw each client exactly once. Yours "
        f"draw client {int(np.argmax(counts != 1))} {int(counts[np.argmax(counts != 1)])} times. Take every third.",
    )
    for start in range(3):
        shares = np.bincount(labels[found(start, 4)], minlength=3)
        require(
            shares.tolist() == [1, 1, 2],
            f"The strata have 3, 3 and 6 clients, so four of twelve are one, one and two. Start {start} gives "
            f"{shares.tolist()}. Put the clients in a row stratum by stratum before you take every third.",
        )
    pairs = np.concatenate([found(start, 2) for start in range(6)])
    require(
        sorted(pairs.tolist()) == list(range(12)),
        "Right for K = 4, but for K = 2 the interval is N/K = 6, and the six starts together must draw each client "
        "exactly once.",
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
        check=check_resting_point,
        mistakes=(
            Mistake(" / presence.sum()", "", "Weights must sum to 1"),
            Mistake("presence.sum()", "len(means)", "not by N"),
            Mistake("presence @ means / presence.sum()", "means.mean()", "Do the presences enter"),
            Mistake(
                "presence @ means / presence.sum()", "presence**2 @ means / (presence**2).sum()", "one time in five"
            ),
            Mistake(
                "presence @ means / presence.sum()",
                "means[presence < 2] @ (2 - presence) / (2 - presence).sum()",
                "the mean of the others",
            ),
        ),
    ),
)
