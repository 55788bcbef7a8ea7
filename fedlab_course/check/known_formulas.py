"""The formulas of the exercises on FedAvg, FedProx, SCAFFOLD and FedDyn, right or with mistakes.

The sentences are those of the conformance suite. A few more are about single steps, which the
suite does not look at.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_core.conformance import averaging, controls, local
from fedlab_core.conformance.task import Task
from fedlab_course.check.base import Formula, Wrong
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, STEPS, drawn

Vector = np.ndarray
Gradient = Callable[[int, Vector], Vector]

AT_START = "every step takes the gradient at w, where the gradient at y is due"
UPHILL = "the step goes uphill: y + η (…) where y − η (…) is due"
NO_RATE = "η is missing in the step"
ONE_STEP = "there is a single step, whatever `steps` is"
STEP = (AT_START, UPHILL, NO_RATE, ONE_STEP)
TERM_WITHOUT_RATE = "η multiplies the gradient alone, but η must multiply both terms"
TO_ZERO = "the proximal term pulls y to zero, not to w"
NOT_DIVIDED = "the sum of n_k y_k is not divided by Σ n_k"


def _train(
    wrong: Wrong,
    w: Vector,
    k: int,
    gradient: Gradient,
    eta: float,
    steps: int,
    term: Callable[[Vector], Vector] = np.zeros_like,
) -> Vector:
    """Return y after local steps from w; ``term``: what is added to the gradient at y."""
    y = w
    for _ in range(min(steps, 1) if ONE_STEP in wrong else steps):
        added = term(y) / eta if TERM_WITHOUT_RATE in wrong else term(y)
        step = gradient(k, w if AT_START in wrong else y) + added
        step = step if NO_RATE in wrong else eta * step
        y = y + step if UPHILL in wrong else y - step
    return y


def _aggregated(wrong: Wrong, models: Vector, sizes: Vector) -> Vector:
    if local.LAST in wrong:
        last: Vector = np.asarray(models)[-1]
        return last
    weights = np.ones(len(sizes)) if local.PLAIN in wrong else sizes
    total: Vector = weights @ np.asarray(models)
    return total if NOT_DIVIDED in wrong else total / weights.sum()


def _rounds(
    wrong: Wrong, w: Vector, gradient: Gradient, sizes: Vector, cohorts: Sequence[Vector], eta: float, steps: int
) -> Vector:
    for cohort in cohorts:
        models = np.array([_train(wrong, w, k, gradient, eta, steps) for k in cohort])
        counted = sizes[cohort]
        mean = _aggregated(wrong, models, counted)
        w = mean * counted.sum() / sizes.sum() if local.ALL_SAMPLES in wrong else mean
    return w


def _prox(wrong: Wrong, w: Vector, k: int, gradient: Gradient, eta: float, steps: int, mu: float) -> Vector:
    weight = mu * float(np.prod([averaging.PULL_FACTORS.get(mistake, 1.0) for mistake in wrong]))
    anchor = np.zeros_like(w) if TO_ZERO in wrong else w
    return _train(wrong, w, k, gradient, eta, steps, lambda y: weight * (y - anchor))


def _controlled(
    wrong: Wrong, w: Vector, k: int, gradient: Gradient, eta: float, steps: int, c: Vector, c_k: Vector
) -> Vector:
    offset = c if controls.ONLY_SERVER in wrong else c - c_k
    if controls.NOT_APPLIED in wrong:
        offset = np.zeros_like(c)
    if controls.SIGN in wrong:
        offset = -offset
    return _train(wrong, w, k, gradient, eta, steps, lambda y: offset)


def _control(wrong: Wrong, c_k: Vector, c: Vector, w: Vector, y: Vector, steps: int, eta: float) -> Vector:
    move = y - w if controls.MINUS in wrong else w - y
    move = move if controls.TAU_MISSING in wrong else move / steps
    move = move if controls.RATE_MISSING in wrong else move / eta
    if controls.NOT_TAKEN_OUT in wrong:
        return move
    return move + (c - c_k if controls.REVERSED in wrong else c_k - c)


_PROX = tuple(averaging.PULL_FACTORS)
_OFFSET = (controls.NOT_APPLIED, controls.SIGN, controls.ONLY_SERVER)
_RENEWAL = (
    controls.RATE_MISSING,
    controls.TAU_MISSING,
    controls.NOT_TAKEN_OUT,
    controls.REVERSED,
    controls.MINUS,
)
LOCAL = Formula(_train, STEP)
AGGREGATE = Formula(_aggregated, (local.PLAIN, local.LAST, NOT_DIVIDED))
FEDAVG = Formula(_rounds, (*STEP, local.PLAIN, local.LAST, NOT_DIVIDED, local.ALL_SAMPLES))
PROX_LOCAL = Formula(_prox, (TERM_WITHOUT_RATE, *_PROX, TO_ZERO, *STEP))
SCAFFOLD_LOCAL = Formula(_controlled, (TERM_WITHOUT_RATE, *_OFFSET, *STEP))
CONTROL = Formula(_control, _RENEWAL)


def _task(algorithm: str, parameters: Any, a: Sequence[float], b: Sequence[float], changes: Any) -> Task:
    """Return the problem of ``fedlab_course.check.on_quadratics.start`` in the form of the suite.

    A sample (√a, √a b) has the loss a/2 (w − b)².
    """
    rounds = {"rounds": ROUNDS, **changes}
    roots = np.sqrt(np.asarray(a, dtype=float))
    cohorts = _cohorts(len(a), rounds)
    return Task(
        algorithm=algorithm,
        kind="quadratic",
        setting="exercise",
        x=tuple(np.array([[root]]) for root in roots),
        y=tuple(np.array([root * optimum]) for root, optimum in zip(roots, b, strict=True)),
        start=np.array([START]),
        cohorts=cohorts,
        epochs=STEPS,
        batch_size=None,
        lr=LR,
        parameters=parameters,
    )


def _cohorts(clients: int, changes: Any) -> tuple[tuple[int, ...], ...]:
    """Return the cohort of every round, as an algorithm that samples uniformly draws it."""
    every = drawn(fl.FedAvg, (), clients, {"clients_per_round": clients, **changes})
    return tuple(tuple(cohorts[0]) for cohorts in every)


def _of_suite(
    algorithm: str, formula: Callable[[Task, Wrong], Any], names: Sequence[str], fixed: Any, mistakes: tuple[str, ...]
) -> Formula:
    """Return a formula of the suite. A case: the algorithm's arguments, a, b, changes of a run."""
    tasks: dict[str, Task] = {}

    def compute(wrong: Wrong, arguments: Sequence[Any], a: Any, b: Any, changes: Any) -> Vector:
        key = repr((arguments, a, b, changes))
        if key not in tasks:
            parameters = {**fixed, **dict(zip(names, arguments, strict=True))}
            tasks[key] = _task(algorithm, parameters, a, b, changes)
        return np.array([answer["w"][0] for answer in formula(tasks[key], wrong)])

    return Formula(compute, mistakes)


FEDPROX = _of_suite("FedProx", averaging.fedprox, ["mu"], {}, (*_PROX, averaging.OLD_ANCHOR))
SCAFFOLD = _of_suite(
    "Scaffold",
    controls.scaffold,
    [],
    {"option": 2, "server_lr": 1.0},
    (
        *_OFFSET,
        *_RENEWAL,
        controls.COHORT_SHARE,
        controls.NO_SHARE,
        controls.C_FIRST,
        controls.OVERWRITTEN,
    ),
)
FEDDYN = _of_suite(
    "FedDyn",
    controls.feddyn,
    ["mu"],
    {},
    (
        controls.NO_LINEAR,
        controls.LINEAR_SIGN,
        controls.NO_PROXIMAL,
        controls.H_SHARE,
        controls.H_NOT_TAKEN,
        controls.OLD_H,
    ),
)
