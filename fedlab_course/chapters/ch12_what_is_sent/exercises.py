# mypy: allow-untyped-defs
"""Exercises of chapter 12: a memory for what was not sent, and lazy clients as a class."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.in_the_plane import require_rounds, shares
from fedlab_course.check.on_quadratics import START

_ = translator(__name__)


def send(move, residual, count):
    """What a client sends, with `count` entries that are not zero, and what it keeps."""
    ### BEGIN SOLUTION
    wanted = move + residual
    sent = np.zeros_like(wanted)
    places = np.argsort(-np.abs(wanted))[:count]
    sent[places] = wanted[places]
    return sent, wanted - sent
    ### END SOLUTION


class Lazy(fl.Algorithm):
    """FedAvg that sends only entries of a move that are as large as the threshold."""

    def __init__(self, threshold):
        self.threshold = threshold

    def setup(self, server):
        server.state["residuals"] = server.client_table()  # zeros [N, P]

    def upload(self, server, updates):
        """What the server receives; the rows of updates.params are w + the move."""
        moves = updates.params - server.params
        ### BEGIN SOLUTION
        wanted = moves + server.state["residuals"][updates.clients]
        sent = torch.where(wanted.abs() >= self.threshold, wanted, 0.0)
        server.state["residuals"][updates.clients] = wanted - sent
        ### END SOLUTION
        return replace(updates, params=server.params + sent)


A = ((1.0, 3.0), (2.0, 1.0), (3.0, 2.0))
B = ((0.0, 1.0), (1.0, -1.0), (-1.0, 3.0))
RUNS: tuple[
    tuple[float, str, dict[str, int]], ...
] = (  # threshold, what follows from it, and other settings
    (0.0, _("With threshold 0 it is FedAvg."), {}),
    (0.75, _("Each entry decides for itself, and what is not sent is kept and added later."), {}),
    (
        1.0,
        _("Two of three clients take part in a round, and each has its own residual."),
        {"clients_per_round": 2, "rounds": 8},
    ),
)


def lazy_path(threshold, cohorts):
    """The path of w by the two lines of the text, for these cohorts."""
    w = np.full(2, START)
    kept = np.zeros((len(A), 2))
    expected = []
    for cohort in cohorts:
        wanted = shares(A)[cohort] * (np.array(B)[cohort] - w) + kept[cohort]
        sent = np.where(np.abs(wanted) >= threshold, wanted, 0.0)
        kept[cohort] = wanted - sent
        w = w + sent.mean(0)
        expected.append(w)
    return expected


def check_class(answer):
    """Compare with the recursion for three thresholds, the last with partial participation."""
    for threshold, hint, changes in RUNS:
        expected = partial(lazy_path, threshold)
        require_rounds(answer, expected, hint, [threshold], A, B, changes)


MOVE = np.array([1.0, -4.0, 2.0])
NEXT = np.array([1.0, 0.0, 3.0])
KEPT = np.array([2.5, 0.0, 0.0])
FIVE = np.array([0.5, -1.0, 0.25, 3.0, -2.0])
KEPT_OF_FIVE = np.array([-3.0, 0.0, 0.25, -1.0, 0.0])

EXERCISES = (
    Exercise(
        id="12-send",
        solution=send,
        cases=(
            Case(
                (MOVE, np.zeros(3), 1),
                ([0, -4, 0], [1, 0, 2]),
                _("The largest entry of (1, −4, 2) in size is sent."),
            ),
            Case(
                (NEXT, KEPT, 1),
                ([3.5, 0, 0], [0, 0, 3]),
                _("(1, 0, 3) is the move, and (2.5, 0, 0) was kept before."),
            ),
            Case(
                (FIVE, KEPT_OF_FIVE, 3),
                ([-2.5, 0, 0, 2, -2], [0, -1, 0.5, 0, 0]),
                _("Of five entries the three largest are sent."),
            ),
            Case(
                (MOVE, KEPT, 3),
                ([3.5, -4, 2], [0, 0, 0]),
                _("All three entries are sent, so nothing is kept."),
            ),
        ),
        mistakes=(
            Mistake(
                "move + residual",
                "move",
                _("What was kept counts from now on, and yours forgets it."),
            ),
            Mistake(
                "-np.abs(wanted)",
                "-wanted",
                _("The largest entry in absolute value is −4, and you send 2."),
            ),
            Mistake(
                "-np.abs(wanted)",
                "np.abs(wanted)",
                _("You send 1, the smallest entry: `argsort` sorts upwards."),
            ),
            Mistake("[:count]", "[:1]", _("You send one entry. How many may be sent?")),
            Mistake(
                "wanted - sent", "move - sent", _("What was kept before and not sent is lost.")
            ),
            Mistake(
                "wanted - sent",
                "np.zeros_like(sent)",
                _("Nothing is kept: the next round cannot make up for it."),
            ),
        ),
    ),
    Exercise(
        id="12-class",
        solution=Lazy,
        check=check_class,
        mistakes=(
            Mistake("wanted.abs() >=", "wanted >=", "threshold 0"),
            Mistake("wanted.abs() >=", "wanted.norm(dim=1, keepdim=True) >=", "Each entry decides"),
            Mistake("wanted.abs() >=", "moves.abs() >=", "added later"),
            Mistake('moves + server.state["residuals"][updates.clients]', "moves", "added later"),
            Mistake("= wanted - sent", "= wanted", "threshold 0"),
            Mistake("[updates.clients]", "[np.arange(len(moves))]", "its own residual"),
        ),
    ),
)
