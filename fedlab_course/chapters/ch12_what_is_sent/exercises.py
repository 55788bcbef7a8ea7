# mypy: allow-untyped-defs
"""Exercises of chapter 12: a memory for what was not sent, and lazy clients as a class."""

from dataclasses import replace

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, require_path


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


def check_class(answer):
    """Compare with the recursion for two thresholds."""
    a, b = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    part = 1 - (1 - LR * a) ** 5
    for threshold, hint in (
        (0.0, "With threshold 0 it is FedAvg."),
        (0.75, "What is not sent is kept and added later."),
    ):
        w, kept, expected = START, np.zeros(2), []
        for _ in range(ROUNDS):
            wanted = part * (b - w) + kept
            sent = np.where(np.abs(wanted) >= threshold, wanted, 0.0)
            w, kept = w + sent.mean(), wanted - sent
            expected.append(w)
        require_path(answer, expected, hint, [threshold], a.tolist(), b.tolist())


MOVE, NEXT, KEPT = np.array([1.0, -4.0, 2.0]), np.array([1.0, 0.0, 3.0]), np.array([2.5, 0.0, 0.0])

EXERCISES = (
    Exercise(
        id="12-send",
        solution=send,
        cases=(
            Case((MOVE, np.zeros(3), 1), ([0, -4, 0], [1, 0, 2]), "The largest entry of (1, −4, 2) in size is sent."),
            Case((NEXT, KEPT, 1), ([3.5, 0, 0], [0, 0, 3]), "(1, 0, 3) is the move, and (2.5, 0, 0) was kept before."),
        ),
        mistakes=(
            Mistake("move + residual", "move", "What was kept counts from now on, and yours forgets it."),
            Mistake("-np.abs(wanted)", "-wanted", "The largest entry in absolute value is −4, and you send 2."),
            Mistake("-np.abs(wanted)", "np.abs(wanted)", "You send 1, the smallest entry: `argsort` sorts upwards."),
            Mistake("wanted - sent", "np.zeros_like(sent)", "Nothing is kept: the next round cannot make up for it."),
        ),
    ),
    Exercise(
        id="12-class",
        solution=Lazy,
        check=check_class,
        mistakes=(
            Mistake("wanted.abs() >=", "wanted >=", "threshold 0"),
            Mistake('moves + server.state["residuals"][updates.clients]', "moves", "added later"),
            Mistake("= wanted - sent", "= wanted", "threshold 0"),
        ),
    ),
)
