"""FedCurv and the importance of Memory Aware Synapses. Right, or with known mistakes.

The equations are those of ``fedlab_core.algorithms.fedcurv`` and ``fedlab_core.importance``, which cite the papers.
"""

from collections.abc import Callable, Iterator

import numpy as np

from fedlab_core.conformance.averaging import Answer
from fedlab_core.conformance.local import MEANS, TRAINING, Clients, Wrong, chained, mean, residuals, sample_gradients
from fedlab_core.conformance.task import Task, Vector

OWN_KEPT = "a client's own share of the penalty is not subtracted"
STALE = "a client subtracts its own share of an earlier round although it was absent from the last one"
HALF = "the gradient of the penalty is λ I (y − θ), where 2λ is due"
SQUARED_MEAN = "the Fisher diagonal is the square of the mean gradient, not the mean of the squares"
AT_W = "the Fisher diagonal is taken at w, not at the trained θ_j"
AVERAGED = "the penalty is averaged over the cohort, not summed"
NO_PENALTY = "the penalty never reaches a local step"
FEDCURV = (*TRAINING, *MEANS, OWN_KEPT, STALE, HALF, SQUARED_MEAN, AT_W, AVERAGED, NO_PENALTY)


def fedcurv(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """The penalty λ Σ_{j ≠ k} (y − θ_j)ᵀ diag(I_j) (y − θ_j) over the last cohort; then FedAvg."""
    clients, w = Clients(task, wrong), task.start
    strength = task.parameters["strength"] * (0 if NO_PENALTY in wrong else 1 if HALF in wrong else 2)
    fisher = np.zeros((task.num_clients, len(w)))
    theta, last = fisher.copy(), np.zeros(task.num_clients, dtype=bool)
    for cohort in task.cohorts:
        rows = []
        for k in cohort:
            weight, target = fisher[last].sum(0), (fisher * theta)[last].sum(0)
            if OWN_KEPT not in wrong and (last[k] or STALE in wrong):
                weight, target = weight - fisher[k], target - fisher[k] * theta[k]
            scale = strength / (max(last.sum(), 1) if AVERAGED in wrong else 1)
            rows.append(clients.train(k, w, _penalty(scale * weight, scale * target)))
        for k, y in zip(cohort, rows, strict=True):
            samples = sample_gradients(task, k, w if AT_W in wrong else y)
            fisher[k] = samples.mean(0) ** 2 if SQUARED_MEAN in wrong else (samples**2).mean(0)
            theta[k] = y
        last[:] = False
        last[list(cohort)] = True
        w = mean(task, cohort, rows, w, wrong)
        yield {"w": w}


def _penalty(weight: Vector, target: Vector) -> Callable[[Vector], Vector]:
    return lambda y: weight * y - target


SIGNED = "the gradients keep their signs, so that samples cancel"
OF_BATCH = "the absolute value is taken of the mean gradient, not of each sample's"
SQUARED = "the gradients are squared, where the absolute value is due"
NOT_SQUARED = "the norm ‖f(x)‖ is not squared"
HALVED = "the gradient is that of ½ ‖f(x)‖²"
MAS = (SIGNED, OF_BATCH, SQUARED, NOT_SQUARED, HALVED)


def mas(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """Ω = mean over the samples of client 0 of |∂ ‖f(x)‖² / ∂w| at ``start``."""
    output, _ = residuals(task, 0, task.start)
    outer = (1 if HALVED in wrong else 2) * output
    if NOT_SQUARED in wrong:
        outer = outer / 2 / np.linalg.norm(output, axis=1, keepdims=True)
    gradients = chained(task, 0, outer)
    if SIGNED in wrong or OF_BATCH in wrong:
        result = gradients.mean(0)
        yield {"importance": np.abs(result) if OF_BATCH in wrong else result}
    else:
        yield {"importance": (gradients**2 if SQUARED in wrong else np.abs(gradients)).mean(0)}
