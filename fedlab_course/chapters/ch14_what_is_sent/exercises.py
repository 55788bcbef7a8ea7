# mypy: allow-untyped-defs
"""Exercises of chapter 14: a memory for what was not sent, and labels read off a bias."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def send(move, residual, count):
    """What a client sends, with `count` entries that are not zero, and what it keeps."""
    ### BEGIN SOLUTION
    wanted = move + residual
    sent = np.zeros_like(wanted)
    places = np.argsort(-np.abs(wanted))[:count]
    sent[places] = wanted[places]
    return sent, wanted - sent
    ### END SOLUTION


def labels_seen(bias_before, bias_after):
    """The labels that the client holds for sure, in increasing order."""
    ### BEGIN SOLUTION
    return np.flatnonzero(bias_after > bias_before)
    ### END SOLUTION


MOVE, NEXT, KEPT = np.array([1.0, -4.0, 2.0]), np.array([1.0, 0.0, 3.0]), np.array([2.5, 0.0, 0.0])

EXERCISES = (
    Exercise(
        id="14-send",
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
        id="14-labels",
        solution=labels_seen,
        cases=(
            Case((np.zeros(4), np.array([-0.1, 0.3, -0.1, 0.2])), {1, 3}, "Two of the four biases rise here."),
            Case((np.array([0.5, -0.5, 0.2]), np.array([0.4, -0.1, 0.1])), {1}, "One bias rises, from −0.5 to −0.1."),
        ),
        mistakes=(
            Mistake("after > bias", "after < bias", "The bias of a label that is not held can only fall."),
            Mistake("bias_after > bias_before", "bias_after > 0", "The move tells, not the value: compare the two."),
            Mistake("flatnonzero(bias_after > bias_before)", "argmax(bias_after)", "One label. Which others rise?"),
            Mistake("np.flatnonzero", "", "You return a truth value for each label. Return their numbers."),
        ),
    ),
)
