# mypy: allow-untyped-defs
"""Exercises of chapter 5: importance, local training with a penalty, and FedMas as a class."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.chances import (
    cohorts_of,
    counted,
    require_counts,
    require_meetings,
    require_stream,
)
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, PathCase, path, require_paths
from fedlab_course.check.tools import array, close, require, run_with, shown
from fedlab_course.check.with_model import linear


def importance(model, samples):
    """Ω [P]: the mean of |∂ ‖f(x)‖² / ∂w| over the samples x, for every parameter of a model."""
    rows = []  # for each sample a vector [P]
    for x in samples:
        output = model(x[None])  # f(x), one row
        ### BEGIN SOLUTION
        gradients = torch.autograd.grad(output.square().sum(), list(model.parameters()))
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]).abs())
        ### END SOLUTION
    return torch.stack(rows).mean(0)


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
        self.strength = strength  # λ
        self.tiers = np.asarray(tiers)  # the tier of each client

    def setup(self, server):
        server.state["importance"] = torch.zeros_like(server.params)  # Ω

    def cohorts(self, server):
        """Yield a cohort of each tier: the share K/N of its clients."""
        rng = server.stream("cohort")
        share = server.clients_per_round / server.num_clients
        ### BEGIN SOLUTION
        for tier in np.unique(self.tiers):
            members = np.flatnonzero(self.tiers == tier)
            yield rng.choice(members, max(1, round(share * len(members))), replace=False)
        ### END SOLUTION

    def correction(self, server, client):
        """The gradient of the penalty λ Σ Ω (y − w)²."""
        ### BEGIN SOLUTION
        return fl.Correction(
            weight=2 * self.strength * server.state["importance"], anchor=server.params
        )
        ### END SOLUTION

    def after_aggregation(self, server, updates):
        server.state["importance"] = server.importance(int(updates.clients[0]), server.params)


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])


def _slope(k, y):
    """The gradient of a_k/2 ‖y − (0, 1)‖²."""
    return _A[k] * (y - np.array([0.0, 1.0]))


_TIERS = np.array([2, 0, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0, 1, 0])  # of 8, 4, 2 and 1 clients
_SIZES = [3, 2, 1, 1]  # of the cohorts with K/N = 0.4
_SIX = {"clients_per_round": 6}


def _check_cohorts(answer):
    """Look at the order of the tiers, the sizes of the cohorts, seeds and chances."""
    arguments = [0.0, _TIERS.tolist()]
    rounds = cohorts_of(answer, arguments, 15, _SIX)
    for cohorts in rounds:
        seen = [sorted({int(_TIERS[client]) for client in cohort}) for cohort in cohorts]
        require(
            seen == [[0], [1], [2], [3]],
            f"Tiers 0, 1, 2 and 3 train in turn. Your cohorts are from the tiers {seen}.",
        )
        sizes = [len(cohort) for cohort in cohorts]
        require(
            sizes == _SIZES,
            "K/N = 0.4 of tiers of 8, 4, 2 and 1 clients is 3.2, 1.6, 0.8 and 0.4: rounded, and at "
            f"least one, 3, 2, 1 and 1. Yours are {sizes}.",
        )
    shares = np.divide(_SIZES, np.bincount(_TIERS))
    require_counts(
        counted(rounds, 15),
        shares[_TIERS].tolist(),
        "All clients of a tier must be drawn equally often, here {expected} times in 2,000 rounds. "
        "Yours draws client {place} {count} times.",
    )
    for tier in (0, 1):
        require_meetings(
            rounds,
            15,
            np.flatnonzero(tier == _TIERS).tolist(),
            "Clients {first} and {second} have the same tier, and in 2,000 rounds no cohort has "
            "both. Every choice of members must be possible.",
        )
    require_stream(answer, arguments, 15, _SIX, "`rng`")


def _free_path(b):
    """The path of clients that train in turn without a penalty."""
    w = START
    points = []
    for _ in range(ROUNDS):
        for curvature, minimum in zip(_A, b, strict=True):
            w = minimum + (1 - LR * curvature) ** 5 * (w - minimum)
        points.append(w)
    return points


def check_class(answer):
    """Without a penalty clients train in turn, in closed form; with one the library's FedMas says
    what is right.
    """
    _check_cohorts(answer)
    given = [1.0, 3.0], [0.0, 1.0]
    free = [0.0, [0, 1]]
    strong = [0.1, [0, 1]]
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    hint = "With λ = 0 client 1 starts where client 0 ended."
    term = "With λ = 0.1 the gradient of λ Σ Ω (y − w)² is added."
    two = "Two parameters with λ = 0.1: each has its own Ω, and is pulled to its own w."
    cases = [
        PathCase(_free_path(_B), hint, free, *given),
        PathCase(path(fl.FedMas, strong, *given), term, strong, *given),
        PathCase(path(fl.FedMas, strong, given[0], pairs), two, strong, given[0], pairs),
    ]
    require_paths(answer, cases, known_formulas.FEDMAS)


def check_importance(answer):
    """Compare with the closed form of f(x) = W x + b: 2 |f_i x_j| and 2 |f_i|, in the mean."""
    weight = [[1.0, 2.0], [0.0, -1.0]]
    bias = [0.5, 0.0]
    for samples, hint in (
        ([[1.0, 1.0]], "Of one sample it is |∂‖f(x)‖²/∂w|: first W row by row, then b."),
        ([[1.0, 1.0], [-2.0, -1.0]], "Take the absolute value for each sample, then the mean."),
    ):
        x = np.array(samples)
        f = x @ np.transpose(weight) + bias
        products = (2 * f[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        expected = np.abs(np.hstack([products, 2 * f])).mean(0)
        result = array(run_with(answer, linear, weight, bias, samples), (6,))
        require(
            close(result, expected),
            f"{hint} It must be {shown(expected)}, and yours is {shown(result)}.",
        )


_START = np.array([2.0, -1.0])
_HALF = np.array([0.5, 0.0])

EXERCISES = (
    Exercise(
        id="05-importance",
        solution=importance,
        check=check_importance,
        mistakes=(
            Mistake(".abs()", "", "Of one sample"),
            Mistake("output.square().sum()", "output.sum()", "Of one sample"),
            Mistake("output.square()", "output.softmax(1).square()", "Of one sample"),
        ),
    ),
    Exercise(
        id="05-local",
        solution=local_update,
        known=known_formulas.FEDMAS_LOCAL,
        cases=(
            Case(
                (_START, 0, _slope, 0.1, 1, 1.0, _HALF),
                [1.8, -0.8],
                "At y = w the penalty does not pull.",
            ),
            Case(
                (_START, 0, _slope, 0.1, 2, 0.0, _HALF),
                [1.62, -0.62],
                "With λ = 0 these are steps of FedAvg.",
            ),
            Case(
                (_START, 0, _slope, 0.1, 2, 1.0, _HALF),
                [1.64, -0.62],
                "The first parameter has Ω = 0.5, the second 0.",
            ),
            Case(
                (_START, 0, _slope, 0.2, 2, 2.0, _HALF),
                [1.44, -0.28],
                "Two steps with η = 0.2 and λ = 2.",
            ),
        ),
        mistakes=(
            Mistake("2 * strength", "strength", "What is the derivative of λ Ω (y − w)²?"),
            Mistake("(y - w)", "(w - y)", "Your penalty pushes y away from w."),
            Mistake(" * importance", "", "Your penalty does not depend on Ω."),
            Mistake(
                "gradient(k, y)",
                "gradient(k, w)",
                "Each step needs the gradient where the client is then.",
            ),
        ),
    ),
    Exercise(
        id="05-class",
        solution=MyFedMas,
        check=check_class,
        mistakes=(
            Mistake(
                "max(1, round(share * len(members)))", "len(members)", "at least one, 3, 2, 1 and 1"
            ),
            Mistake(
                "max(1, round(share * len(members)))",
                "round(share * len(members))",
                "Tiers 0, 1, 2 and 3",
            ),
            Mistake(
                "np.flatnonzero(self.tiers == tier)",
                "np.arange(len(self.tiers))",
                "Tiers 0, 1, 2 and 3",
            ),
            Mistake(
                "max(1, round(share * len(members)))",
                "-int(-share * len(members) // 1)",
                "Yours are [4, 2, 1, 1]",
            ),
            Mistake("2 * self.strength", "self.strength", "the gradient of λ Σ Ω"),
            Mistake("anchor=server.params", "anchor=0 * server.params", "the gradient of λ Σ Ω"),
        ),
    ),
)
