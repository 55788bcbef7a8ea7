"""Lemmas 1 to 5 of [004], section 3.4, on quadratics: is each bound kept at every step, and by how
much?

F_k(w) = ½ Σ_j a_kj (w_j − b_kj)², 20 clients of equal weight, a ~ U(1, 2), b ~ N(0, 1), 20
coordinates, full gradients, so σ_k = 0. 500 steps from 0 at η_t = 2/(t + 16), a mean every E = 10
steps; G² is the largest ‖∇F_k‖² met.

``ratio``: the largest left side over its right side (lemma 1: right over left); at most 1 where the
lemma is right. Lemma 3 is (24), lemma 4 (25), lemma 5 (31), the expectation over all cohorts of 4.
``slip``: lemma 4's proof drops the factor η_t² of lemma 3; B as printed over B with the largest
η_t² in its place.
"""

from typing import NamedTuple

import numpy as np

from fedlab_core.randomness import stream
from fedlab_course.experiments.base import Experiment, ResultRow

NUM = 20
DIMENSION = 20
STEPS = 500
EPOCH = 10
COHORT = 4
CONVEXITY = 1.0
SMOOTHNESS = 2.0


class PathStep(NamedTuple):
    """One step of all clients: the learning rate, their models and gradients [N, D] before it, and
    ∇F [D] and F − F* at the mean of the models.
    """

    rate: float
    w: np.ndarray
    gradients: np.ndarray
    gradient: np.ndarray
    excess: float


def run(seed: int) -> list[ResultRow]:
    """A row for each lemma."""
    rng = stream(seed, "data")
    a = rng.uniform(CONVEXITY, SMOOTHNESS, (NUM, DIMENSION))
    b = rng.normal(size=(NUM, DIMENSION))
    curvature = a.mean(0)
    optimum = (a * b).mean(0) / a.mean(0)
    gamma = (0.5 * a * (optimum - b) ** 2).sum(1).mean()  # Γ: F* less the mean of F_k* = 0
    steps = path(a, b)
    bound = max((step.gradients**2).sum(1).max() for step in steps)  # G²
    drifted = 4 * SMOOTHNESS**2 * (EPOCH - 1) ** 2 * bound
    rest = SMOOTHNESS / CONVEXITY * bound + 2 * SMOOTHNESS * gamma
    share = NUM / (COHORT * (NUM - 1)) * (1 - COHORT / NUM)
    ratios: dict[int, list[float]] = {lemma: [] for lemma in range(1, 6)}
    for t, (rate, w, gradients, gradient, excess) in enumerate(steps):
        ratios[1].append(2 * CONVEXITY * excess / (gradient**2).sum())
        ratios[2].append((gradient**2).sum() / (2 * SMOOTHNESS * excess))
        ratios[3].append(
            ((w - w.mean(0)) ** 2).sum(1).mean() / (4 * rate**2 * (EPOCH - 1) ** 2 * bound)
        )
        ratios[4].append((gradients.mean(0) ** 2).sum() / (drifted + rest))
        if (t + 1) % EPOCH == 0:
            v = w - rate * gradients
            lost = 0.5 * (curvature * v.var(0)).sum() * share
            ratios[5].append(lost / (SMOOTHNESS / 2 * share * 4 * rate**2 * EPOCH**2 * bound))
    slip = (drifted + rest) / (drifted * steps[0].rate ** 2 + rest)
    return [
        {"lemma": lemma, "ratio": max(each_step), "slip": slip if lemma == 4 else None}
        for lemma, each_step in ratios.items()
    ]


def path(a: np.ndarray, b: np.ndarray) -> list[PathStep]:
    """The steps of FedAvg with all clients, for curvatures ``a`` and minima ``b`` [N, D]."""
    curvature = a.mean(0)
    optimum = (a * b).mean(0) / a.mean(0)
    w = np.zeros((NUM, DIMENSION))
    steps = []
    for t in range(STEPS):
        rate = 2 / (t + 16)
        gradients = a * (w - b)
        error = w.mean(0) - optimum
        excess = 0.5 * (curvature * error**2).sum()
        steps.append(PathStep(rate, w, gradients, curvature * error, excess))
        w = w - rate * gradients
        if (t + 1) % EPOCH == 0:
            w = np.tile(w.mean(0), (NUM, 1))
    return steps


LEMMAS = Experiment("lemmas", run, [{}])
