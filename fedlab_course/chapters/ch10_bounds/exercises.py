# mypy: allow-untyped-defs
"""Exercises of chapter 10: a ridge as an algorithm, and the gap Γ."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, require_path


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


def check_ridge(answer):
    """A quadratic with a ridge is a quadratic: curvature a_k + s, optimum a_k b_k/(a_k + s)."""
    a, b = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    for strength, hint in ((0.0, "Strength 0 is FedAvg."), (2.0, "The ridge pulls y to zero, and not to w.")):
        bent = a + strength
        part, aims, w, expected = 1 - (1 - LR * bent) ** 5, a * b / bent, START, []
        for _ in range(ROUNDS):
            w = w + (part * (aims - w)).mean()
            expected.append(w)
        require_path(answer, expected, hint, [strength], a.tolist(), b.tolist())


HALF, ONES, ZERO_ONE = np.array([0.5, 0.5]), np.ones(3), np.array([0.0, 1.0])

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
            Case((np.array([1.0, 3.0]), np.array([2.0, 2.0]), HALF), 0.0, "One w suits both clients here."),
            Case((np.full(4, 2.0), _FOUR, np.full(4, 0.25)), 7.25, "The clients (w − e_k)², e = (0, 1, 2, 7)."),
            Case((np.array([1.0, 3.0]), ZERO_ONE, HALF), 0.1875, "For a = (1, 3), b = (0, 1) the optimum is 0.75."),
            Case((ONES[:2], ZERO_ONE, np.array([0.9, 0.1])), 0.045, "With ρ = (0.9, 0.1) the optimum is 0.1."),
        ),
        mistakes=(
            Mistake("rho * a * b).sum() / (rho * a)", "rho * b).sum() / rho", "Which client pulls harder?"),
            Mistake("rho * a / 2", "rho * a", "Yours is {found}, twice the gap. Which factor does a loss have?"),
            Mistake("(rho * a / 2", "(a / 2 / len(a)", "With ρ = (0.9, 0.1) yours is {found}. Where do weights enter?"),
            Mistake("(optimum - b) ** 2", "b**2", "One w suits both clients, so Γ is 0. Where is a loss taken?"),
        ),
    ),
)
