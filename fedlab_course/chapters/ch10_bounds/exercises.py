# mypy: allow-untyped-defs
"""Exercises of chapter 10: a ridge as an algorithm, and the gap Γ."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, by_parameter, require_path


class Ridge(fl.Algorithm):
    """FedAvg on the losses F_k(w) + strength/2 ‖w‖²."""

    def __init__(self, strength):
        self.strength = strength

    def correction(self, server, client):
        """What is added to the gradient: weight ⊙ (y − anchor) + offset."""
        ### BEGIN SOLUTION
        return fl.Correction(weight=self.strength, anchor=torch.zeros_like(server.params))
        ### END SOLUTION


def heterogeneity_gap(a, b, rho):
    """Γ of clients f_k(w) = a_k/2 (w − b_k)² with weights rho; all arrays [N]."""
    ### BEGIN SOLUTION
    optimum = (rho * a * b).sum() / (rho * a).sum()
    return (rho * a / 2 * (optimum - b) ** 2).sum()
    ### END SOLUTION


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])


def _expected(strength, b, lr=LR):
    """A quadratic with a ridge is a quadratic: curvature a_k + s, optimum a_k b_k/(a_k + s)."""
    bent = _A + strength
    part = 1 - (1 - lr * bent) ** 5
    aims = _A * b / bent
    w = START
    points = []
    for _ in range(ROUNDS):
        w = w + (part * (aims - w)).mean()
        points.append(w)
    return points


def check_ridge(answer):
    """Compare with the closed form for two strengths, and for two parameters with another η."""
    a = _A.tolist()
    for strength, hint in (
        (0.0, "Strength 0 is FedAvg."),
        (2.0, "The ridge pulls y to zero, and not to w."),
    ):
        require_path(answer, _expected(strength, _B), hint, [strength], a, _B.tolist())
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    expected = by_parameter(lambda b: _expected(0.5, b, 0.2), pairs)
    hint = "Two parameters, strength 0.5 and η = 0.2: the ridge pulls both to zero."
    require_path(answer, expected, hint, [0.5], a, pairs, {"lr": 0.2})


HALF = np.array([0.5, 0.5])
ONES = np.ones(3)
ZERO_ONE = np.array([0.0, 1.0])

_FOUR = np.array([0.0, 1.0, 2.0, 7.0])

EXERCISES = (
    Exercise(
        id="10-ridge",
        solution=Ridge,
        check=check_ridge,
        mistakes=(
            Mistake("torch.zeros_like(server.params)", "server.params", "not to w"),
            Mistake("weight=self.strength", "weight=2 * self.strength", "to zero"),
            Mistake("weight=self.strength", "weight=1.0", "is FedAvg"),
        ),
    ),
    Exercise(
        id="10-gap",
        solution=heterogeneity_gap,
        cases=(
            Case(
                (np.array([1.0, 3.0]), np.array([2.0, 2.0]), HALF),
                0.0,
                "One w suits both clients here.",
            ),
            Case(
                (np.full(4, 2.0), _FOUR, np.full(4, 0.25)),
                7.25,
                "The clients (w − e_k)², e = (0, 1, 2, 7).",
            ),
            Case(
                (np.array([1.0, 3.0]), ZERO_ONE, HALF),
                0.1875,
                "For a = (1, 3), b = (0, 1) the optimum is 0.75.",
            ),
            Case(
                (ONES[:2], ZERO_ONE, np.array([0.9, 0.1])),
                0.045,
                "With ρ = (0.9, 0.1) the optimum is 0.1.",
            ),
            Case(
                (np.array([1.0, 3.0, 4.0]), np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.25, 0.25])),
                1.75,
                "For a = (1, 3, 4), b = (0, 1, 3), ρ = (0.5, 0.25, 0.25) the optimum is 5/3.",
            ),
        ),
        mistakes=(
            Mistake(
                "rho * a * b).sum() / (rho * a)",
                "rho * b).sum() / rho",
                "Which client pulls harder?",
            ),
            Mistake(
                "rho * a / 2",
                "rho * a",
                "Yours is {found}, twice the gap. Which factor does a loss have?",
            ),
            Mistake(
                "(rho * a / 2",
                "(a / 2 / len(a)",
                "With ρ = (0.9, 0.1) yours is {found}. Where do weights enter?",
            ),
            Mistake(
                "(optimum - b) ** 2",
                "b**2",
                "One w suits both clients, so Γ is 0. Where is a loss taken?",
            ),
        ),
    ),
)
