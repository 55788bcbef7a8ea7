# mypy: allow-untyped-defs
"""Exercises of chapter 6: what a budget buys, and many small cohorts as a class."""

import numpy as np

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, drawn, require_path
from fedlab_course.check.tools import beside, require


def within_budget(spent, accuracy, budget):
    """The accuracy that a run had reached when its budget was spent, NaN if no round fits in.

    spent: the price so far after each round [T], rising. accuracy: after each round [T].
    """
    ### BEGIN SOLUTION
    affordable = accuracy[spent <= budget]
    return affordable[-1] if len(affordable) else np.nan
    ### END SOLUTION


class OneByOne(fl.Algorithm):
    """FedAvg with the K clients of a round one after another, and an update after each."""

    def cohorts(self, server):
        """Yield K cohorts of one client each."""
        ### BEGIN SOLUTION
        for client in server.stream("cohort").permutation(server.uniform_cohort()):
            yield np.array([client])
        ### END SOLUTION


def check_class(answer):
    """Look at the cohorts, and then train equal clients, where K updates are K times the steps of one client."""
    rounds = beside(answer, drawn, [], 8, {"clients_per_round": 4, "rounds": 2})
    cohorts = [cohort for one in rounds for cohort in one]
    require(all(len(cohort) == 1 for cohort in cohorts), f"Each cohort must have one client. Yours are {cohorts}.")
    require(len(cohorts) == 8, f"K = 4: a round has four cohorts. In two rounds yours has {len(cohorts)}.")
    first, second = ({cohort[0] for cohort in half} for half in (cohorts[:4], cohorts[4:]))
    require(len(first) == len(second) == 4, "A client trains at most once in a round.")
    require(first != second, "Yours trains the same clients in both rounds. Draw them with `server.uniform_cohort()`.")
    w, expected = START, []
    for _ in range(ROUNDS):
        w = 1.0 + (1 - LR * 2.0) ** 20 * (w - 1.0)  # four clients of five steps
        expected.append(w)
    equal = [2.0] * 8, [1.0] * 8
    require_path(
        answer, expected, "Each client starts where the one before it ended.", [], *equal, {"clients_per_round": 4}
    )


SPENT, ACCURACY = np.array([20.0, 40.0, 60.0, 80.0]), np.array([0.5, 0.8, 0.7, 0.9])

EXERCISES = (
    Exercise(
        id="06-budget",
        solution=within_budget,
        cases=(
            Case((SPENT, ACCURACY, 70.0), 0.7, "With a budget of 70 a run has finished the rounds at 20, 40 and 60."),
            Case((SPENT, ACCURACY, 60.0), 0.7, "A budget of exactly 60 pays for the round that ends at 60."),
            Case((SPENT, ACCURACY, 10.0), float("nan"), "A budget of 10 pays for no round at all: return `np.nan`."),
        ),
        mistakes=(
            Mistake("affordable[-1]", "accuracy[-1]", "A budget of 70 does not pay for the round that ends at 80."),
            Mistake("affordable[-1] if", "affordable.max() if", "While it trains nobody knows which round is best."),
            Mistake("<=", "<", "A budget of exactly 60 pays for the round that ends at 60. You leave it out."),
            Mistake(" if len(affordable) else np.nan", "", "An empty array has no last entry: return `np.nan` then."),
        ),
    ),
    Exercise(
        id="06-class",
        solution=OneByOne,
        check=check_class,
        mistakes=(
            Mistake("yield np.array([client])", "yield np.array([client, client + 1]) % 8", "one client"),
            Mistake("server.uniform_cohort()", "server.uniform_cohort()[:2]", "four cohorts"),
            Mistake("server.uniform_cohort()", "np.arange(4)", "the same clients"),
        ),
    ),
)
