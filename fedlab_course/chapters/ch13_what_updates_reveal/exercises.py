# mypy: allow-untyped-defs
"""Exercises of chapter 13: labels read off a bias, clipping as a class, and δ of ε."""

from functools import partial

import numpy as np
import torch
from scipy.stats import norm

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.in_the_plane import moved_at_rest, require_rounds, shares
from fedlab_course.check.on_quadratics import START
from fedlab_course.check.tools import require, run_with

_ = translator(__name__)


def labels_seen(bias_before, bias_after):
    """The labels that the client holds for sure, in increasing order."""
    ### BEGIN SOLUTION
    return np.flatnonzero(bias_after > bias_before)
    ### END SOLUTION


class Noisy(fl.Algorithm):
    """FedAvg on clipped moves, with normal noise on their mean."""

    def __init__(self, clip, noise):
        # κ and σ
        self.clip = clip
        self.noise = noise

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
        return server.params + total / server.clients_per_round  # K is public


def delta(epsilon, z):
    """The least δ for this ε, if N(0, 1) is seen without the client and N(z, 1) with it."""
    ### BEGIN SOLUTION
    edge = epsilon / z + z / 2
    return norm.cdf(z - edge) - np.exp(epsilon) * norm.cdf(-edge)
    ### END SOLUTION


A = ((1.0, 3.0), (2.0, 1.0), (3.0, 2.0))
B = ((0.0, 1.0), (1.0, -1.0), (-1.0, 3.0))
SIZES = [1, 2, 5]


def clipped_path(clip, cohorts):
    """The path of w without noise: the plain mean of the moves, each shortened to ``clip``."""
    w = np.full(2, START)
    expected = []
    for _cohort in cohorts:
        moves = shares(A) * (np.array(B) - w)
        lengths = np.hypot(*moves.T)
        w = w + (moves * np.minimum(1, clip / lengths)[:, None]).mean(0)
        expected.append(w)
    return expected


def check_class(answer):
    """Compare with the closed form of clipped moves, and then look at the size of the noise."""
    for clip, hint in (
        (100.0, _("With a large κ and no noise it is FedAvg's plain mean.")),
        (
            0.5,
            _(
                "A move that is longer than κ is shortened to the length κ, "
                "and keeps its direction."
            ),
        ),
    ):
        require_rounds(
            answer, partial(clipped_path, clip), hint, [clip, 0.0], A, B, {"sizes": SIZES}
        )
    check_noise(answer)


def check_noise(answer):
    """All clients are at their optimum, so that only the noise moves w."""
    quiet, loud, louder, alone = (
        run_with(answer, moved_at_rest, [clip, noise], clients)
        for clip, noise, clients in ((1.0, 2.0, 4), (3.0, 2.0, 4), (1.0, 6.0, 4), (1.0, 2.0, 1))
    )
    require(
        np.isfinite(quiet),
        _("A client at its optimum has a move of length 0, and yours divides by this length."),
    )
    require(quiet != 0, _("With σ = 2 the result must be random."))
    require(
        abs(loud / quiet - 3) < 1e-6,
        _("The noise must grow in proportion to κ: its standard deviation is σ κ."),
    )
    require(abs(louder / quiet - 3) < 1e-6, _("The noise must grow in proportion to σ."))
    require(
        abs(alone / quiet - 4) < 1e-6,
        _("The noise is added once to the sum, and the sum is divided by K."),
    )
    drawn = fl.randomness.stream(0, "noise", round=1).normal(size=2)[0]
    require(
        abs(alone - 2 * drawn) < 1e-6,
        _("The noise in the sum is σ κ times `drawn`, as it is drawn there."),
    )


EXERCISES = (
    Exercise(
        id="13-labels",
        solution=labels_seen,
        cases=(
            Case(
                (np.zeros(4), np.array([-0.1, 0.3, -0.1, 0.2])),
                {1, 3},
                _("Two of the four biases rise here."),
            ),
            Case(
                (np.array([0.5, -0.5, 0.2]), np.array([0.4, -0.1, 0.1])),
                {1},
                _("One bias rises, from −0.5 to −0.1."),
            ),
            Case(
                (np.array([0.1, 0.2, -0.3]), np.array([0.0, 0.1, -0.5])),
                set(),
                _("All three biases fall, so no label is sure."),
            ),
            Case(
                (np.zeros(5), np.array([0.4, 0.001, 0.2, -0.7, 0.1])),
                {0, 1, 2, 4},
                _("Four of five biases rise, one of them by 0.001."),
            ),
        ),
        mistakes=(
            Mistake(
                "after > bias",
                "after < bias",
                _("The bias of a label that is not held can only fall."),
            ),
            Mistake(
                "bias_after > bias_before",
                "bias_after > 0",
                _("The move tells, not the value: compare the two."),
            ),
            Mistake(
                "flatnonzero(bias_after > bias_before)",
                "argmax(bias_after)",
                _("One label. Which others rise?"),
            ),
            Mistake(
                "np.flatnonzero(bias_after > bias_before)",
                "np.sort(np.argsort(bias_before - bias_after)[:2])",
                _("Two labels. The number of labels is not known."),
            ),
            Mistake(
                "np.flatnonzero",
                "",
                _("You return a truth value for each label. Return their numbers."),
            ),
        ),
    ),
    Exercise(
        id="13-class",
        solution=Noisy,
        check=check_class,
        mistakes=(
            Mistake(".clamp(max=1.0)", "", "a large κ"),
            Mistake(
                "moves * (self.clip / norms.clamp_min(1e-30)).clamp(max=1.0)",
                "moves.clamp(-self.clip, self.clip)",
                "keeps its direction",
            ),
            Mistake(
                "moves * (self.clip / norms.clamp_min(1e-30)).clamp(max=1.0)",
                "moves / norms * norms.clamp(max=self.clip)",
                "a move of length 0",
            ),
            Mistake("self.clip * drawn", "self.clip * drawn / 2", "times `drawn`"),
            Mistake("clipped.sum(0) +", "moves.sum(0) +", "keeps its direction"),
            Mistake("self.noise * self.clip * drawn", "self.noise * drawn", "in proportion to κ"),
            Mistake("+ self.noise * self.clip * drawn", "", "must be random"),
            Mistake("self.clip * drawn", "self.clip * drawn * len(moves)", "once to the sum"),
        ),
    ),
    Exercise(
        id="13-delta",
        solution=delta,
        cases=(
            Case(
                (0.0, 1.0),
                0.382924922548,
                _("With ε = 0 δ is the area between the bells, 2 Φ(½) − 1."),
            ),
            Case(
                (2.0, 2.0),
                0.331897998777,
                _("Here the edge is at 2: Φ(0) = ½ of N(2, 1) is beyond it, and Φ(−2) of N(0, 1)."),
            ),
            Case((1.0, 0.5), 0.006829594983, _("The edge is at ε/z + z/2 = 2.25.")),
        ),
        mistakes=(
            Mistake(
                "np.exp(epsilon) * norm", "norm", _("The second probability counts e^ε times.")
            ),
            Mistake(
                "z - edge",
                "-edge",
                _("Both probabilities are of one bell. Which has its middle at z?"),
            ),
            Mistake(
                " - np.exp(epsilon) * norm.cdf(-edge)",
                "",
                _("What e^ε allows is subtracted: the odds may change by this factor."),
            ),
            Mistake("+ z / 2", "", _("The edge is where exp(z x − z²/2) = e^ε. Solve for x.")),
        ),
    ),
)
