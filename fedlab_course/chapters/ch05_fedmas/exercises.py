# mypy: allow-untyped-defs
"""Exercises of chapter 5: local training with a penalty, and FedMas as a class."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, drawn, path, require_path
from fedlab_course.check.tools import beside, require


def local_update(w, k, gradient, eta, steps, strength, importance):
    """The parameters of client k after local steps under the penalty λ Σ Ω (y − w)²."""
    y = w
    for _ in range(steps):
        ### BEGIN SOLUTION
        y = y - eta * (gradient(k, y) + 2 * strength * importance * (y - w))
        ### END SOLUTION
    return y


class MyFedMas(fl.Algorithm):
    """FedMas with given tiers."""

    def __init__(self, strength, tiers):
        self.strength, self.tiers = strength, np.asarray(tiers)  # λ, tier of each client

    def setup(self, server):
        server.state["importance"] = torch.zeros_like(server.params)  # Ω

    def cohorts(self, server):
        """Yield a cohort of each tier: the share K/N of its clients."""
        rng, share = server.stream("cohort"), server.clients_per_round / server.num_clients
        ### BEGIN SOLUTION
        for tier in np.unique(self.tiers):
            members = np.flatnonzero(self.tiers == tier)
            yield rng.choice(members, max(1, round(share * len(members))), replace=False)
        ### END SOLUTION

    def correction(self, server, client):
        """The gradient of the penalty λ Σ Ω (y − w)²."""
        ### BEGIN SOLUTION
        return fl.Correction(weight=2 * self.strength * server.state["importance"], anchor=server.params)
        ### END SOLUTION

    def after_aggregation(self, server, updates):
        server.state["importance"] = server.importance(int(updates.clients[0]), server.params)


_A, _B = np.array([1.0, 3.0]), np.array([0.0, 1.0])


def _slope(k, y):
    """The gradient of a_k/2 ‖y − (0, 1)‖²."""
    return _A[k] * (y - np.array([0.0, 1.0]))


def check_class(answer):
    """Without a penalty clients train in turn, in closed form; with one the library's FedMas says what is right."""
    tiers, one = [2, 0, 0, 1, 0, 1, 0, 1], {"clients_per_round": 4, "rounds": 1}
    (cohorts,) = beside(answer, drawn, [0.0, tiers], 8, one)
    seen = [sorted({tiers[client] for client in cohort}) for cohort in cohorts]
    require(seen == [[0], [1], [2]], f"Tiers 0, 1 and 2 train in turn. Your cohorts are from the tiers {seen}.")
    sizes = [len(cohort) for cohort in cohorts]
    require(sizes == [2, 2, 1], f"K/N = 1/2 of tiers of 4, 3 and 1 is 2, 2 and at least 1. Yours are {sizes}.")
    w, expected = START, []
    for _ in range(ROUNDS):
        for a, b in zip(_A, _B, strict=True):
            w = b + (1 - LR * a) ** 5 * (w - b)
        expected.append(w)
    given = [1.0, 3.0], [0.0, 1.0]
    require_path(answer, expected, "With λ = 0 client 1 starts where client 0 ended.", [0.0, [0, 1]], *given)
    strong = [0.1, [0, 1]]
    hint = "With λ = 0.1 the gradient of λ Σ Ω (y − w)² is added."
    require_path(answer, path(fl.FedMas, strong, *given), hint, strong, *given)


_START = np.array([2.0, -1.0])
_HALF = np.array([0.5, 0.0])

EXERCISES = (
    Exercise(
        id="05-local",
        solution=local_update,
        cases=(
            Case((_START, 0, _slope, 0.1, 1, 1.0, _HALF), [1.8, -0.8], "At y = w the penalty does not pull."),
            Case((_START, 0, _slope, 0.1, 2, 0.0, _HALF), [1.62, -0.62], "With λ = 0 these are steps of FedAvg."),
            Case(
                (_START, 0, _slope, 0.1, 2, 1.0, _HALF), [1.64, -0.62], "The first parameter has Ω = 0.5, the second 0."
            ),
        ),
        mistakes=(
            Mistake("2 * strength", "strength", "What is the derivative of λ Ω (y − w)²?"),
            Mistake("(y - w)", "(w - y)", "Your penalty pushes y away from w."),
            Mistake(" * importance", "", "Your penalty does not depend on Ω."),
            Mistake("gradient(k, y)", "gradient(k, w)", "Each step needs the gradient where the client is then."),
        ),
    ),
    Exercise(
        id="05-class",
        solution=MyFedMas,
        check=check_class,
        mistakes=(
            Mistake("max(1, round(share * len(members)))", "len(members)", "2, 2 and at least 1"),
            Mistake("max(1, round(share * len(members)))", "round(share * len(members))", "Tiers 0, 1 and 2"),
            Mistake("np.flatnonzero(self.tiers == tier)", "np.arange(len(self.tiers))", "Tiers 0, 1 and 2"),
            Mistake("2 * self.strength", "self.strength", "the gradient of λ Σ Ω"),
            Mistake("anchor=server.params", "anchor=0 * server.params", "the gradient of λ Σ Ω"),
        ),
    ),
)
