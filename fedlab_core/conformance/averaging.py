"""FedAvg, FedProx, FedNova and stratified sampling: w after every round, right or with known mistakes.

The equations are those of the modules of the same names in ``fedlab_core.algorithms``, which cite the papers.
"""

from collections.abc import Callable, Iterator

import numpy as np

from fedlab_core.conformance.local import MEANS, MOMENTUM, PLAIN, TRAINING, Clients, Wrong, batches, mean, tensors
from fedlab_core.conformance.task import Task, Vector

Answer = dict[str, Vector]


def fedavg(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """w ← Σ n_k y_k / Σ n_k."""
    clients, w = Clients(task, wrong), task.start
    for cohort in task.cohorts:
        w = mean(task, cohort, [clients.train(k, w) for k in cohort], w, wrong)
        yield {"w": w}


FEDAVG = (*TRAINING, *MEANS, *MOMENTUM)

NO_PULL = "the proximal term is zero: it is missing, or tied to the moving model"
DOUBLE_PULL = "the proximal gradient is 2μ (y − w): the ½ of μ/2 ‖y − w‖² is missing"
HALF_PULL = "the proximal gradient is μ/2 (y − w)"
PUSH = "the proximal term has the wrong sign"
OLD_ANCHOR = "the proximal term is tied to the model before round 1, not to the one received"
NOT_SQUARED = "the proximal term is μ/2 ‖y − w‖ of each tensor: the square is missing"
FEDPROX = (*TRAINING, *MEANS, NO_PULL, DOUBLE_PULL, HALF_PULL, PUSH, OLD_ANCHOR, NOT_SQUARED)
PULL_FACTORS = {NO_PULL: 0.0, DOUBLE_PULL: 2.0, HALF_PULL: 0.5, PUSH: -1.0}


def fedprox(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """Local gradients ∇F_k(y) + μ (y − w)."""
    clients, w = Clients(task, wrong), task.start
    for cohort in task.cohorts:
        extra = _pull(task, task.start if OLD_ANCHOR in wrong else w, wrong)
        w = mean(task, cohort, [clients.train(k, w, extra) for k in cohort], w, wrong)
        yield {"w": w}


def _pull(task: Task, anchor: Vector, wrong: Wrong) -> Callable[[Vector], Vector]:
    weight = task.parameters["mu"] * float(np.prod([PULL_FACTORS.get(mistake, 1.0) for mistake in wrong]))

    def extra(y: Vector) -> Vector:
        distance = y - anchor
        if NOT_SQUARED in wrong:
            norms = [np.full(len(y[part]), np.linalg.norm(distance[part])) for part in tensors(task)]
            return weight / 2 * distance / np.maximum(np.concatenate(norms), 1e-300)
        return weight * distance

    return extra


NOT_NORMALISED = "the changes are not divided by ‖a_k‖₁, so that this is FedAvg"
TWICE_RESCALED = "the step is multiplied by N/K, although the weights sum to 1 over the cohort already"
NO_TAU = "the mean of the normalised changes is not multiplied by τ_eff"
PLAIN_TAU = "τ_eff is the plain mean of the τ_k, not the n_k-weighted one"
STEPS_ONLY = "‖a_k‖₁ is the number of steps, although the steps have a proximal term or momentum"
ALWAYS_NORM = "τ_eff is Σ p_k ‖a_k‖₁ with a proximal term too, where Σ p_k τ_k is due"
FEDNOVA: tuple[str, ...] = (*TRAINING, *MEANS, *MOMENTUM, NO_PULL, NOT_NORMALISED, TWICE_RESCALED, NO_TAU, PLAIN_TAU)
FEDNOVA += (STEPS_ONLY, ALWAYS_NORM)


def fednova(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """w ← w − τ_eff η Σ p_k d_k, d_k = (w − y_k) / (η ‖a_k‖₁)."""
    clients, w, mu = Clients(task, wrong), task.start, task.parameters["mu"]
    rho, shrink = task.local_momentum, task.lr * mu
    for cohort in task.cohorts:
        tau = np.array([len(batches(task, k, wrong)) for k in cohort], dtype=float)
        a_norm = tau
        if STEPS_ONLY not in wrong and mu:
            a_norm = (1 - (1 - shrink) ** tau) / shrink
        elif STEPS_ONLY not in wrong and rho:
            a_norm = (tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho)
        a_norm = np.maximum(a_norm, 1e-200)  # a client without steps changes nothing
        p = np.array([1.0 if PLAIN in wrong else task.sizes[k] for k in cohort])
        effective = p / p.sum() @ (a_norm if rho or ALWAYS_NORM in wrong else tau)
        if PLAIN_TAU in wrong:
            effective = tau.mean()
        if TWICE_RESCALED in wrong:
            effective = effective * task.num_clients / len(cohort)
        scale = np.ones(len(cohort)) if NOT_NORMALISED in wrong else (1 if NO_TAU in wrong else effective) / a_norm
        rows = [clients.train(k, w, _pull(task, w, wrong) if mu else None) for k in cohort]
        w = mean(task, cohort, [w + s * (y - w) for s, y in zip(scale, rows, strict=True)], w, wrong)
        yield {"w": w}


NO_STRATA = "the weights are n_k alone: clients of small and large strata count alike"
STRATUM_SIZE = "the weights are those of the strata alone, without n_k"
NOT_TO_ONE = "the weights (N/K) n_k / Σ n do not sum to 1"
STRATIFIED = (*TRAINING, NO_STRATA, STRATUM_SIZE, NOT_TO_ONE)


def stratified(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """w ← Σ ω_k y_k, ω_k ∝ n_k n_c / s_c for n_c clients in the stratum of k, of which s_c are in the cohort."""
    clients, w, strata = Clients(task, wrong), task.start, np.array(task.parameters["strata"])
    for cohort in task.cohorts:
        own = strata[list(cohort)]
        shares = np.array([(strata == c).sum() / (own == c).sum() for c in own])
        sizes = np.array([task.sizes[k] for k in cohort], dtype=float)
        omega = (np.ones(len(cohort)) if STRATUM_SIZE in wrong else sizes) * (1.0 if NO_STRATA in wrong else shares)
        omega = omega / omega.sum()
        if NOT_TO_ONE in wrong:
            omega = task.num_clients / len(cohort) * sizes / sum(task.sizes)
        w = omega @ np.array([clients.train(k, w) for k in cohort])
        yield {"w": w}
