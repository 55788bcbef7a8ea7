# mypy: allow-untyped-defs
"""Exercises of chapter 4: the systematic draw, and stratified cohorts as a class."""

import numpy as np

import fedlab_core as fl
from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.on_quadratics import drawn, path, require_path
from fedlab_course.check.tools import array, beside, call, require


def systematic(labels, start, num_drawn):
    """K = num_drawn of the N clients, from their strata labels [N] and a start below N/K."""
    ### BEGIN SOLUTION
    row = np.argsort(labels, kind="stable")
    interval = len(labels) // num_drawn
    return row[start::interval]
    ### END SOLUTION


class MyStrata(fl.Algorithm):
    """FedAvg whose cohorts take their share of every stratum."""

    def __init__(self, labels):
        self.labels = np.asarray(labels)  # the stratum of each client [N]

    def cohorts(self, server):
        """Yield the cohort of this round, server.clients_per_round clients."""
        rng = server.stream("cohort")
        ### BEGIN SOLUTION
        interval = server.num_clients // server.clients_per_round
        shuffled = rng.permutation(server.num_clients)
        row = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        yield row[rng.integers(interval) :: interval]
        ### END SOLUTION


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


_STRATA = [0, 1, 2, 3] * 2
_A, _B = [1.0, 3.0, 2.0, 1.0] * 2, [0.0, 1.0, 2.0, 7.0] * 2  # the two clients of a stratum are equal
_FOUR = {"clients_per_round": 4}


def check_class(answer):
    """Equal clients in each stratum make the cohort's mean that of all clients, exactly."""
    rounds = beside(answer, drawn, [_STRATA], 8, {**_FOUR, "rounds": 40})
    cohorts = [sorted(one) for (one,) in rounds]
    require(all(len(cohort) == 4 for cohort in cohorts), "K = 4: each cohort must have 4 clients.")
    strata = {tuple(sorted(client % 4 for client in cohort)) for cohort in cohorts}
    require(strata == {(0, 1, 2, 3)}, f"Four strata of two clients, K = 4: one of each. Yours draws strata {strata}.")
    few = len({tuple(cohort) for cohort in cohorts})
    require(
        few > 2, f"In 40 rounds yours draws {few} different cohorts of 16. Shuffle the clients inside each stratum."
    )
    everybody = path(fl.FedAvg, [], _A, _B)
    require_path(
        answer, everybody, "A stratum's clients are equal here, so a cohort counts as all.", [_STRATA], _A, _B, _FOUR
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
        id="04-class",
        solution=MyStrata,
        check=check_class,
        mistakes=(
            Mistake("rng.permutation(server.num_clients)", "np.arange(server.num_clients)", "Shuffle"),
            Mistake('shuffled[np.argsort(self.labels[shuffled], kind="stable")]', "shuffled", "one of each"),
            Mistake("server.num_clients // server.clients_per_round", "server.clients_per_round", "must have 4"),
        ),
    ),
)
