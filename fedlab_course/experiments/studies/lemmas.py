"""Lemmas 1 to 5 of [004], section 3.4, on quadratics: is each bound kept at every step, and by how much?

F_k(w) = ½ Σ_j a_kj (w_j − b_kj)², 20 clients of equal weight, a ~ U(1, 2), b ~ N(0, 1), 20 coordinates, full gradients,
so σ_k = 0. 500 steps from 0 at η_t = 2/(t + 16), a mean every E = 10 steps; G² is the largest ‖∇F_k‖² met.

``ratio``: the largest left side over its right side (lemma 1: right over left); at most 1 where the lemma is right.
Lemma 3 is (24), lemma 4 (25), lemma 5 (31), the expectation over all cohorts of 4. ``slip``: lemma 4's proof drops the
factor η_t² of lemma 3; B as printed over B with the largest η_t² in its place.
"""

import numpy as np

from fedlab_core.randomness import stream
from fedlab_course.experiments.base import Experiment, Row

NUM, DIMENSION, STEPS, EPOCH, COHORT = 20, 20, 500, 10, 4
CONVEXITY, SMOOTHNESS = 1.0, 2.0


def run(seed: int) -> list[Row]:
    """A row for each lemma."""
    rng = stream(seed, "data")
    a, b = rng.uniform(CONVEXITY, SMOOTHNESS, (NUM, DIMENSION)), rng.normal(size=(NUM, DIMENSION))
    curvature, optimum = a.mean(0), (a * b).mean(0) / a.mean(0)
    own = (0.5 * a * (optimum - b) ** 2).sum(1).mean()  # Γ: F* less the mean of F_k* = 0
    w, steps = np.zeros((NUM, DIMENSION)), []
    for t in range(STEPS):
        rate, mean, gradients = 2 / (t + 16), w.mean(0), a * (w - b)
        steps.append(
            (rate, w, gradients, curvature * (mean - optimum), 0.5 * (curvature * (mean - optimum) ** 2).sum())
        )
        w = w - rate * gradients
        if (t + 1) % EPOCH == 0:
            w = np.tile(w.mean(0), (NUM, 1))
    bound = max((g**2).sum(1).max() for _, _, g, _, _ in steps)  # G²
    drifted = 4 * SMOOTHNESS**2 * (EPOCH - 1) ** 2 * bound
    rest = SMOOTHNESS / CONVEXITY * bound + 2 * SMOOTHNESS * own
    share = NUM / (COHORT * (NUM - 1)) * (1 - COHORT / NUM)
    kept: dict[int, list[float]] = {number: [] for number in range(1, 6)}
    for t, (rate, w, gradients, gradient, excess) in enumerate(steps):
        kept[1].append(2 * CONVEXITY * excess / (gradient**2).sum())
        kept[2].append((gradient**2).sum() / (2 * SMOOTHNESS * excess))
        kept[3].append(((w - w.mean(0)) ** 2).sum(1).mean() / (4 * rate**2 * (EPOCH - 1) ** 2 * bound))
        kept[4].append((gradients.mean(0) ** 2).sum() / (drifted + rest))
        if (t + 1) % EPOCH == 0:
            v = w - rate * gradients
            lost = 0.5 * (curvature * v.var(0)).sum() * share
            kept[5].append(lost / (SMOOTHNESS / 2 * share * 4 * rate**2 * EPOCH**2 * bound))
    slip = (drifted + rest) / (drifted * steps[0][0] ** 2 + rest)
    return [{"lemma": one, "ratio": max(found), "slip": slip if one == 4 else None} for one, found in kept.items()]


LEMMAS = Experiment("lemmas", run, [{}])
