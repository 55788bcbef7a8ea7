# mypy: allow-untyped-defs
"""Exercises of chapter 13: labels read off a bias, and clipping as a class."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, path, require_path
from fedlab_course.check.tools import beside, require


def labels_seen(bias_before, bias_after):
    """The labels that the client holds for sure, in increasing order."""
    ### BEGIN SOLUTION
    return np.flatnonzero(bias_after > bias_before)
    ### END SOLUTION


class Noisy(fl.Algorithm):
    """FedAvg on clipped moves, with normal noise on their mean."""

    def __init__(self, clip, noise):
        self.clip, self.noise = clip, noise  # κ and σ

    def aggregate(self, server, updates):
        """The next parameters; the rows of updates.params are the y_k."""
        moves = updates.params - server.params  # [K, P]
        ### BEGIN SOLUTION
        norms = moves.norm(dim=1, keepdim=True)
        clipped = moves * (self.clip / norms.clamp_min(1e-30)).clamp(max=1.0)
        ### END SOLUTION
        rng = server.stream("noise")
        drawn = torch.from_numpy(rng.normal(size=len(server.params))).to(server.params)
        ### BEGIN SOLUTION
        total = clipped.sum(0) + self.noise * self.clip * drawn
        ### END SOLUTION
        return server.params + total / len(moves)


def check_class(answer):
    """Compare with the closed form of clipped moves, and then look at the size of the noise."""
    a, b = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    part = 1 - (1 - LR * a) ** 5
    for clip, hint in ((100.0, "With a large κ and no noise it is FedAvg's plain mean."), (0.5, "A move is cut to κ.")):
        w, expected = START, []
        for _ in range(ROUNDS):
            w = w + np.clip(part * (b - w), -clip, clip).mean()
            expected.append(w)
        require_path(answer, expected, hint, [clip, 0.0], a.tolist(), b.tolist())
    one = {"rounds": 1}
    given = [1.0] * 4, [2.0] * 4  # all clients are at their optimum, so only the noise moves w
    quiet, loud = (beside(answer, path, [clip, 2.0], *given, one)[0] - START for clip in (1.0, 3.0))
    require(quiet != 0, "With σ = 2 the result must be random.")
    require(abs(loud / quiet - 3) < 1e-6, "The noise must grow in proportion to κ: its standard deviation is σ κ.")
    alone = beside(answer, path, [1.0, 2.0], [1.0], [2.0], one)[0] - START
    require(abs(alone / quiet - 4) < 1e-6, "The noise is added once to the sum, and the sum is divided by K.")


EXERCISES = (
    Exercise(
        id="13-labels",
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
    Exercise(
        id="13-class",
        solution=Noisy,
        check=check_class,
        mistakes=(
            Mistake(".clamp(max=1.0)", "", "a large κ"),
            Mistake("clipped.sum(0) +", "moves.sum(0) +", "cut to κ"),
            Mistake("self.noise * self.clip * drawn", "self.noise * drawn", "in proportion to κ"),
            Mistake("+ self.noise * self.clip * drawn", "", "must be random"),
            Mistake("self.clip * drawn", "self.clip * drawn * len(moves)", "once to the sum"),
        ),
    ),
)
