# mypy: allow-untyped-defs
"""Exercises of chapter 9: how many steps a move counts for, and FedNova as a class."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, by_parameter, require_path

_ = translator(__name__)


def counted_steps(tau, eta, mu):
    """How many full gradients each client's move is worth, [K]; tau: array of steps ≥ 1, [K]."""
    ### BEGIN SOLUTION
    shrink = eta * mu
    if shrink == 0:
        return tau
    return (1 - (1 - shrink) ** tau) / shrink
    ### END SOLUTION


class MyFedNova(fl.Algorithm):
    """FedNova with a proximal term: moves are divided by the steps that they count for."""

    def __init__(self, mu=0.0):
        self.mu = mu

    def correction(self, server, client):
        """The proximal term of FedProx."""
        return fl.Correction(weight=self.mu, anchor=server.params)

    def aggregate(self, server, updates):
        """The next parameters, from updates.params [K, P], the y_k of the cohort."""
        rho = (updates.num_samples / updates.num_samples.sum()).to(server.params)  # [K]
        tau = updates.num_steps.to(server.params)  # [K]
        counted = torch.as_tensor(counted_steps(tau, server.lr, self.mu)).to(tau)  # [K]
        ### BEGIN SOLUTION
        moves = (updates.params - server.params) / counted[:, None]
        return server.params + (rho @ tau) * (rho @ moves)
        ### END SOLUTION


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])
_SIZES = np.array([1, 4])


def _unequal(b, mu=0.0):
    """The path of FedNova with clients that make 2 and 8 steps.

    A client goes the share a_k/(a_k + μ) (1 − (1 − η (a_k + μ))^τ_k) of its way.
    """
    rho = _SIZES / _SIZES.sum()
    tau = 2.0 * _SIZES
    pull = _A + mu
    part = _A / pull * (1 - (1 - LR * pull) ** tau)
    left = 1 - LR * mu
    counted = np.array([sum(left**step for step in range(int(steps))) for steps in tau])
    w = START
    points = []
    for _ in range(ROUNDS):
        w = w + (rho @ tau) * (rho * part / counted) @ (np.asarray(b) - w)
        points.append(w)
    return points


def _equal(b):
    """The path of FedAvg with two clients of one sample that make five steps."""
    part = 1 - (1 - LR * _A) ** 5
    w = START
    points = []
    for _ in range(ROUNDS):
        w = w + (part * (b - w)).mean()
        points.append(w)
    return points


def check_class(answer):
    """Compare with the closed form for clients that make 2 and 8 steps, for equally many, with a
    proximal term, and for two parameters.
    """
    a = _A.tolist()
    b = _B.tolist()
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    work = {"sizes": _SIZES.tolist(), "batch_size": 1, "local_epochs": 2}
    hint = _("The clients have 1 and 4 samples and make 2 and 8 steps, with μ = 0.")
    require_path(answer, _unequal(b), hint, [0.0], a, b, work)
    require_path(
        answer, _equal(_B), _("With equal steps and μ = 0 it must be FedAvg."), [0.0], a, b
    )
    hint = _(
        "2 and 8 steps with μ = 2. What is a move divided by, and what is the mean of the τ_k?"
    )
    require_path(answer, _unequal(b, 2.0), hint, [2.0], a, b, work)
    hint = _("Two parameters, 2 and 8 steps. Each parameter has its own mean of the moves.")
    require_path(answer, by_parameter(_unequal, pairs), hint, [0.0], a, pairs, work)


EXERCISES = (
    Exercise(
        id="09-counted",
        solution=counted_steps,
        cases=(
            Case(
                (np.array([1.0, 2.0, 3.0]), 0.1, 5.0),
                [1.0, 1.5, 1.75],
                _("Steps 1, 2 and 3 with 1 − ημ = ½: the sums are 1, 1 + ½ and 1 + ½ + ¼."),
            ),
            Case(
                (np.array([1.0, 3.0]), 0.1, 1.0),
                [1.0, 2.71],
                _("Steps 1 and 3 with 1 − ημ = 0.9: the sums are 1 and 1 + 0.9 + 0.81."),
            ),
            Case(
                (np.array([2.0, 10.0]), 0.1, 0.0),
                [2.0, 10.0],
                _("Without a proximal term every gradient counts whole."),
            ),
            Case(
                (np.array([2.0, 10.0]), 0.1, 10.0),
                [1.0, 1.0],
                _("With ημ = 1 each step forgets all gradients before it."),
            ),
            Case(
                (np.array([2.0, 3.0]), 0.5, 3.0),
                [0.5, 0.75],
                _("With 1 − ημ = −½ the sums are 1 − ½ and 1 − ½ + ¼."),
            ),
        ),
        mistakes=(
            Mistake(
                "return (1 - (1 - shrink) ** tau) / shrink",
                "return tau",
                _("You count every gradient whole. What is left of the first after a second step?"),
            ),
            Mistake(
                "(1 - (1 - shrink) ** tau) / shrink",
                "1 - (1 - shrink) ** tau",
                _("The sum of a geometric series has a denominator."),
            ),
            Mistake(
                "(1 - (1 - shrink) ** tau)",
                "(1 - (1 - shrink) ** (tau - 1))",
                _("One gradient is missing: of τ gradients the last counts whole."),
            ),
            Mistake(
                "shrink = eta * mu",
                "shrink = mu",
                _("Your result does not depend on η. By which factor does a step shrink the way?"),
            ),
        ),
    ),
    Exercise(
        id="09-fednova",
        solution=MyFedNova,
        check=check_class,
        uses=("09-counted",),
        mistakes=(
            Mistake(" / counted[:, None]", "", "2 and 8 steps"),
            Mistake("(rho @ tau) * ", "", "2 and 8 steps"),
            Mistake("(rho @ tau)", "tau.mean()", "2 and 8 steps"),
            Mistake("server.params + (rho", "(rho", "2 and 8 steps"),
            Mistake("counted[:, None]", "tau[:, None]", "with μ = 2"),
            Mistake("(rho @ tau)", "(rho @ counted)", "with μ = 2"),
        ),
    ),
)
