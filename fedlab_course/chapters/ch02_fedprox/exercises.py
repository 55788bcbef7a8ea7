# mypy: allow-untyped-defs
"""Exercises of chapter 2: local training with a proximal term, and FedProx as a class."""

import numpy as np

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import (
    LR,
    ROUNDS,
    START,
    PathCase,
    by_parameter,
    require_paths,
)

_ = translator(__name__)


def local_update(w, k, gradient, eta, steps, mu):
    """The parameters of client k after local steps of FedProx; gradient(k, y) is ∇F_k(y)."""
    y = w
    for _ in range(steps):
        ### BEGIN SOLUTION
        y = y - eta * (gradient(k, y) + mu * (y - w))
        ### END SOLUTION
    return y


class MyFedProx(fl.Algorithm):
    """FedProx: FedAvg with a corrected local gradient."""

    def __init__(self, mu):
        self.mu = mu

    def correction(self, server, client):
        """What is added to the gradient: weight ⊙ (y − anchor) + offset."""
        ### BEGIN SOLUTION
        return fl.Correction(weight=self.mu, anchor=server.params)
        ### END SOLUTION


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])


def _slope(k, y):
    """The gradient of a_k/2 ‖y − (0, 1)‖²."""
    return _A[k] * (y - np.array([0.0, 1.0]))


def _expected(mu, b, lr=LR):
    """The path of FedProx: in a round client k covers the part s_k of its way to b_k."""
    part = _A / (_A + mu) * (1 - (1 - lr * (_A + mu)) ** 5)
    w = START
    path = []
    for _ in range(ROUNDS):
        w = w + (part * (np.asarray(b) - w)).mean()
        path.append(w)
    return path


def check_class(answer):
    """Compare with the closed form for three strengths, and for two parameters with another η."""
    hints = {
        0.0: _("With μ = 0 it must be FedAvg."),
        1.0: _("With μ = 1 the proximal term pulls y towards w. Which weight, and which anchor?"),
        5.0: _("The weight must be μ, whatever μ is."),
    }
    cases = [
        PathCase(_expected(mu, _B), hint, [mu], [1.0, 3.0], [0.0, 1.0])
        for mu, hint in hints.items()
    ]
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    cases.append(
        PathCase(
            by_parameter(lambda b: _expected(2.0, b, 0.05), pairs),
            _("Two parameters, μ = 2 and η = 0.05: the proximal term pulls each by itself."),
            [2.0],
            [1.0, 3.0],
            pairs,
            {"lr": 0.05},
        )
    )
    require_paths(answer, cases, known_formulas.FEDPROX)


_START = np.array([2.0, -1.0])

EXERCISES = (
    Exercise(
        id="02-local",
        solution=local_update,
        known=known_formulas.PROX_LOCAL,
        cases=(
            Case(
                (_START, 0, _slope, 0.1, 1, 0.0),
                [1.8, -0.8],
                _("One step with μ = 0 is a step of FedAvg."),
            ),
            Case(
                (_START, 0, _slope, 0.1, 1, 0.5),
                [1.8, -0.8],
                _("At y = w the proximal term is zero, whatever μ is."),
            ),
            Case(
                (_START, 0, _slope, 0.1, 3, 0.5), [1.4855, -0.4855], _("Three steps with μ = 0.5.")
            ),
            Case(
                (_START, 1, _slope, 0.1, 2, 1.0),
                [1.04, -0.04],
                _("Two steps of the steeper client with μ = 1."),
            ),
            Case(
                (_START, 1, _slope, 0.05, 2, 0.5),
                [1.4525, -0.4525],
                _("Two steps of the steeper client with η = 0.05 and μ = 0.5."),
            ),
        ),
        mistakes=(
            Mistake("(y - w)", "(w - y)", _("Your proximal term pushes y away from w.")),
            Mistake("(y - w)", "y", _("Yours pulls y to zero. To which point must it pull?")),
            Mistake("mu * (y", "mu / 2 * (y", _("What is the derivative of μ/2 ‖y − w‖²?")),
            Mistake(
                "gradient(k, y)",
                "gradient(k, w)",
                _("Each step needs the gradient where the client is then."),
            ),
            Mistake(
                "(gradient(k, y) + mu * (y - w))",
                "gradient(k, y) - mu * (y - w)",
                _("η must multiply both terms: the gradient and μ (y − w)."),
            ),
        ),
    ),
    Exercise(
        id="02-class",
        solution=MyFedProx,
        check=check_class,
        mistakes=(
            Mistake("weight=self.mu", "weight=1.0", "With μ = 0 it must be FedAvg"),
            Mistake("weight=self.mu", "weight=self.mu / 2", "Which weight"),
            Mistake("anchor=server.params", "anchor=0 * server.params", "which anchor"),
            Mistake("weight=self.mu", "weight=self.mu ** 2", "whatever μ is"),
        ),
    ),
)
