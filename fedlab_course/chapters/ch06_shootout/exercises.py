# mypy: allow-untyped-defs
"""Exercises of chapter 6: what a budget buys, and many small cohorts as a class."""

import numpy as np

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.chances import cohorts_of, counted, require_counts, require_stream
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, require_path
from fedlab_course.check.tools import require

_ = translator(__name__)


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


_FOUR = {"clients_per_round": 4}


def _check_cohorts(answer):
    """Look at the sizes of the cohorts, at seeds, and at who trains how often and when."""
    rounds = cohorts_of(answer, [], 8, _FOUR)
    for cohorts in rounds:
        require(
            all(len(cohort) == 1 for cohort in cohorts),
            _("Each cohort must have one client. Yours are {cohorts}.").format(cohorts=cohorts),
        )
        require(
            len(cohorts) == 4,
            _("K = 4: a round has four cohorts. Yours has {count}.").format(count=len(cohorts)),
        )
        clients = [client for (client,) in cohorts]
        require(
            len(set(clients)) == 4,
            _("A client trains at most once in a round. Your clients are {clients}.").format(
                clients=clients
            ),
        )
    require_counts(
        counted(rounds, 8),
        [4 / 8] * 8,
        _(
            "K/N = 1/2: each client must train in every second round on average, {expected} times "
            "in 2,000 rounds. Yours trains client {place} {count} times. Draw with "
            "`server.uniform_cohort()`."
        ),
    )
    _check_order(rounds)
    require_stream(answer, [], 8, _FOUR, _("`server.uniform_cohort()` and `server.stream`"))


def _check_order(rounds):
    """Look at who is the first and who is the last in a round."""
    ranks = np.argsort(np.argsort(np.squeeze(rounds, axis=2)))
    first_is = np.bincount(ranks[:, 0], minlength=4)
    last_is = np.bincount(ranks[:, 3], minlength=4)
    hints = (
        _(
            "The order must be random. In 2,000 rounds the first client has the lowest number of "
            "its round {lowest} times and the highest {highest} times, and {expected} are right "
            "for each. Shuffle the clients of the round."
        ),
        _(
            "The order must be random. In 2,000 rounds the last client has the lowest number of "
            "its round {lowest} times and the highest {highest} times, and {expected} are right "
            "for each. Shuffle the clients of the round."
        ),
    )
    for hint, counts in zip(hints, (first_is, last_is), strict=True):
        found = {"lowest": counts[0], "highest": counts[3], "expected": "{expected}"}
        require_counts(counts.tolist(), [1 / 4] * 4, hint.format(**found))


def check_class(answer):
    """Look at the cohorts, and then train equal clients, where K updates are K times the steps of
    one client.
    """
    _check_cohorts(answer)
    w = START
    expected = []
    for _unused in range(ROUNDS):
        w = 1.0 + (1 - LR * 2.0) ** 20 * (w - 1.0)  # four clients of five steps
        expected.append(w)
    hint = _("Each client starts where the one before it ended.")
    require_path(answer, expected, hint, [], [2.0] * 8, [1.0] * 8, _FOUR)


SPENT = np.array([20.0, 40.0, 60.0, 80.0])
ACCURACY = np.array([0.5, 0.8, 0.7, 0.9])

EXERCISES = (
    Exercise(
        id="06-budget",
        solution=within_budget,
        cases=(
            Case(
                (SPENT, ACCURACY, 70.0),
                0.7,
                _("With a budget of 70 a run has finished the rounds at 20, 40 and 60."),
            ),
            Case(
                (SPENT, ACCURACY, 60.0),
                0.7,
                _("A budget of exactly 60 pays for the round that ends at 60."),
            ),
            Case(
                (SPENT, ACCURACY, 10.0),
                float("nan"),
                _("A budget of 10 pays for no round at all: return `np.nan`."),
            ),
            Case(
                (SPENT, ACCURACY, 100.0),
                0.9,
                _("A budget of 100 pays for all rounds."),
            ),
            Case(
                (np.array([10.0, 40.0, 45.0, 80.0]), np.array([0.2, 0.6, 0.3, 0.8]), 44.0),
                0.6,
                _("Rounds cost 10, 30, 5 and 35. A budget of 44 pays for two of them."),
            ),
        ),
        mistakes=(
            Mistake(
                "affordable[-1]",
                "accuracy[-1]",
                _("A budget of 70 does not pay for the round that ends at 80."),
            ),
            Mistake(
                "affordable[-1] if",
                "affordable.max() if",
                _("While it trains nobody knows which round is best."),
            ),
            Mistake(
                "<=",
                "<",
                _("A budget of exactly 60 pays for the round that ends at 60. You leave it out."),
            ),
            Mistake(
                " if len(affordable) else np.nan",
                "",
                _("An empty array has no last entry: return `np.nan` then."),
            ),
        ),
    ),
    Exercise(
        id="06-class",
        solution=OneByOne,
        check=check_class,
        mistakes=(
            Mistake(
                "yield np.array([client])", "yield np.array([client, client + 1]) % 8", "one client"
            ),
            Mistake("server.uniform_cohort()", "server.uniform_cohort()[:2]", "four cohorts"),
            Mistake("server.uniform_cohort()", "np.arange(4)", "Yours trains client 0 2000 times"),
            Mistake(
                'server.stream("cohort").permutation(server.uniform_cohort())',
                "server.uniform_cohort()",
                "Shuffle",
            ),
        ),
    ),
)
