"""SCAFFOLD and FedDyn, whose clients keep a state. Right, or with known mistakes.

The equations are those of the modules of the same names in ``fedlab_core.algorithms``, which cite the papers.
"""

from collections.abc import Callable, Iterator

import numpy as np

from fedlab_core.conformance.averaging import Answer
from fedlab_core.conformance.local import LAST, TRAINING, Clients, Wrong, batches, gradient
from fedlab_core.conformance.task import Task, Vector

WEIGHTED = "n_k weights are taken where the plain mean is due"
NO_RATE = "the server rate η_g is missing"
COHORT_SHARE = "the server divides by |S| where N is due, in the update of c"
NO_SHARE = "the update of c is not divided by N"
WEIGHTED_SHARE = "the update of c is |S|/N times the n_k-weighted mean of the changes, not the plain one"
WEIGHTED_COHORT = "the update of c is the n_k-weighted mean of the changes over the cohort, without |S|/N"
C_FIRST = "c is updated before c_k, so that c_k⁺ contains the new c"
OVERWRITTEN = "c_k is overwritten before its change is formed, so that c stays where it is"
NOT_APPLIED = "the correction c − c_k never reaches a local step"
SIGN = "the correction has the wrong sign: c_k − c"
ONLY_SERVER = "the correction is c alone: c_k is missing"
RATE_MISSING = "the learning rate is missing in c_k⁺: (w − y_k) / τ_k"
TAU_MISSING = "the number of steps is missing in c_k⁺: (w − y_k) / η"
EPOCHS = "c_k⁺ counts epochs where steps are due"
LONGEST = "c_k⁺ has the largest number of steps in the cohort, not the client's own"
FROM_WEIGHTS = "c starts as a copy of the weights"
ALL_FROM_WEIGHTS = "c and all c_k start as copies of the weights, not at zero"
FIRST_RECEIVED = "c starts as a copy of the weights, and each c_k as the weights that the client first receives"
NOT_TAKEN_OUT = "c_k⁺ is (w − y_k) / (τ_k η): c_k − c is missing"
REVERSED = "c_k⁺ is c − c_k + (w − y_k) / (τ_k η): the sign of c_k − c is wrong"
MINUS = "the gradient in c_k⁺ has the wrong sign: (y_k − w) / (τ_k η), or −∇F_k(w)"
AT_END = "c_k⁺ is the gradient at y_k, where that at w is due"
OPTION_1 = "this is option 1: c_k⁺ is the gradient at w"
OPTION_2 = "this is option 2: c_k⁺ is made from the local steps"
_ANY: tuple[str, ...] = (
    *TRAINING,
    LAST,
    WEIGHTED,
    NO_RATE,
    COHORT_SHARE,
    NO_SHARE,
    WEIGHTED_SHARE,
    WEIGHTED_COHORT,
    C_FIRST,
)
_ANY += (OVERWRITTEN, NOT_APPLIED, SIGN, ONLY_SERVER, FROM_WEIGHTS, ALL_FROM_WEIGHTS, FIRST_RECEIVED, MINUS)
_OF_STEPS = (RATE_MISSING, TAU_MISSING, EPOCHS, LONGEST, NOT_TAKEN_OUT, REVERSED)
SCAFFOLD = {1: (*_ANY, AT_END, OPTION_2), 2: (*_ANY, *_OF_STEPS, OPTION_1)}


def scaffold(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """w ← w + η_g mean (y_k − w), c ← c + Σ (c_k⁺ − c_k) / N; the clients step along ∇F_k(y) + c − c_k."""
    clients, w = Clients(task, wrong), task.start
    option, rate = task.parameters["option"], 1.0 if NO_RATE in wrong else task.parameters["server_lr"]
    option = 1 if OPTION_1 in wrong else 2 if OPTION_2 in wrong else option
    c = w.copy() if {FROM_WEIGHTS, ALL_FROM_WEIGHTS, FIRST_RECEIVED} & set(wrong) else np.zeros_like(w)
    table = np.tile(w if ALL_FROM_WEIGHTS in wrong else np.zeros_like(w), (task.num_clients, 1))
    sign = 0.0 if NOT_APPLIED in wrong else -1.0 if SIGN in wrong else 1.0
    new = set(range(task.num_clients)) if FIRST_RECEIVED in wrong else set()
    for cohort in task.cohorts:
        table[[k for k in cohort if k in new]] = w
        new -= set(cohort)
        sizes = np.array([task.sizes[k] for k in cohort], dtype=float)
        offsets = [sign * (c - (0.0 if ONLY_SERVER in wrong else table[k])) for k in cohort]
        rows = [clients.train(k, w, _constant(offset)) for k, offset in zip(cohort, offsets, strict=True)]
        pairs = list(zip(cohort, rows, strict=True))
        if option == 1:
            after = np.array([gradient(task, k, y if AT_END in wrong else w) for k, y in pairs])
            after = -after if MINUS in wrong else after
        else:
            after = np.array([_renewed(task, wrong, k, w, y, c, table[k], cohort) for k, y in pairs])
        changes = after - (after if OVERWRITTEN in wrong else table[list(cohort)])
        total = sizes / sizes.sum() @ changes if {WEIGHTED_SHARE, WEIGHTED_COHORT} & set(wrong) else changes.sum(0)
        share = len(cohort) / task.num_clients if WEIGHTED_SHARE in wrong else 1 / task.num_clients
        share = 1 / len(cohort) if COHORT_SHARE in wrong else 1.0 if {NO_SHARE, WEIGHTED_COHORT} & set(wrong) else share
        new_c = c + share * total
        table[list(cohort)] = after + (c - new_c if C_FIRST in wrong else 0.0)
        weights = sizes if WEIGHTED in wrong else np.ones(len(cohort))
        w = w + rate * (rows[-1] - w if LAST in wrong else weights / weights.sum() @ (np.array(rows) - w))
        c = new_c
        yield {"w": w, "c": c, "c_clients": table.copy()}


def _constant(offset: Vector) -> Callable[[Vector], Vector]:
    return lambda y: offset


def _renewed(
    task: Task, wrong: Wrong, k: int, w: Vector, y: Vector, c: Vector, c_k: Vector, cohort: tuple[int, ...]
) -> Vector:
    """c_k⁺ of option 2, c_k − c + (w − y) / (τ_k η)."""
    taken = [len(batches(task, j, wrong)) for j in (cohort if LONGEST in wrong else [k])]
    steps = 1 if TAU_MISSING in wrong else task.epochs if EPOCHS in wrong else max(max(taken), 1)
    mean_step = (y - w if MINUS in wrong else w - y) / steps / (1.0 if RATE_MISSING in wrong else task.lr)
    return (0.0 if NOT_TAKEN_OUT in wrong else c - c_k if REVERSED in wrong else c_k - c) + mean_step


NO_LINEAR = "the linear term −⟨h_k, y⟩ never reaches a local step"
LINEAR_SIGN = "the linear term has the wrong sign"
NO_PROXIMAL = "the proximal term μ (y − w) is missing"
NOT_SQUARED = "the proximal term is μ/2 ‖y − w‖: the square is missing"
H_SHARE = "the server divides by |S| where N is due, in the update of h"
H_NOT_TAKEN = "h is not subtracted: w is the mean of the y_k"
OLD_H = "w is computed with the h of the round before"
ALL_LATEST = "the mean is over the latest models of all N clients, not over the cohort"
FEDDYN = (
    *TRAINING,
    LAST,
    WEIGHTED,
    NO_LINEAR,
    LINEAR_SIGN,
    NO_PROXIMAL,
    NOT_SQUARED,
    H_SHARE,
    H_NOT_TAKEN,
    OLD_H,
    ALL_LATEST,
)


def feddyn(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """h_k ← h_k − μ (y_k − w), h ← h − μ Σ (y_k − w) / N, w ← mean y_k − h / μ."""
    clients, w, mu = Clients(task, wrong), task.start, task.parameters["mu"]
    h, table, latest = np.zeros_like(w), np.zeros((task.num_clients, len(w))), np.tile(w, (task.num_clients, 1))
    sign = 0.0 if NO_LINEAR in wrong else -1.0 if LINEAR_SIGN in wrong else 1.0
    pull = 0.0 if NO_PROXIMAL in wrong else mu
    for cohort in task.cohorts:
        sizes = np.array([task.sizes[k] for k in cohort], dtype=float)
        rows = np.array([clients.train(k, w, _dynamic(sign * table[k], pull, w, wrong)) for k in cohort])
        table[list(cohort)] -= mu * (rows - w)
        new_h = h - mu * (rows - w).sum(0) / (len(cohort) if H_SHARE in wrong else task.num_clients)
        latest[list(cohort)] = rows
        weights = sizes if WEIGHTED in wrong else np.ones(len(cohort))
        mean = rows[-1] if LAST in wrong else weights / weights.sum() @ rows
        mean = latest.mean(0) if ALL_LATEST in wrong else mean
        w = mean - (0.0 if H_NOT_TAKEN in wrong else h if OLD_H in wrong else new_h) / mu
        h = new_h
        yield {"w": w}


def _dynamic(h: Vector, mu: float, w: Vector, wrong: Wrong) -> Callable[[Vector], Vector]:
    def extra(y: Vector) -> Vector:
        distance = np.linalg.norm(y - w) if NOT_SQUARED in wrong else 0.5
        return mu / 2 * (y - w) / max(float(distance), 1e-300) - h

    return extra
