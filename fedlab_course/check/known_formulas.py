"""The formulas of the exercises on FedAvg, FedProx, SCAFFOLD and FedDyn, right or with
mistakes.

The sentences are those of the conformance suite. A few more are about single steps, which the
suite does not look at.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import fedlab_core as fl
from fedconform.formulas import averaging, feddyn, scaffold
from fedconform.formulas.local_training import Formula as Right
from fedconform.mistakes import in_averaging, in_feddyn, in_scaffold
from fedconform.mistakes.replacing import with_mistakes
from fedconform.tasks.task import Task
from fedlab_core.language import translator
from fedlab_course.check.base import Formula, Wrong
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, STEPS, drawn

_ = translator(__name__)

Vector = np.ndarray
Gradient = Callable[[int, Vector], Vector]

AT_START = _("every step takes the gradient at w, where the gradient at y is due")
UPHILL = _("the step goes uphill: y + η (…) where y − η (…) is due")
NO_RATE = _("η is missing in the step")
ONE_STEP = _("there is a single step, whatever `steps` is")
STEP = (AT_START, UPHILL, NO_RATE, ONE_STEP)
TERM_WITHOUT_RATE = _("η multiplies the gradient alone, but η must multiply both terms")
TO_ZERO = _("the proximal term pulls y to zero, not to w")
NOT_DIVIDED = _("the sum of n_k y_k is not divided by Σ n_k")


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
    for _step in range(min(steps, 1) if ONE_STEP in wrong else steps):
        added = term(y) / eta if TERM_WITHOUT_RATE in wrong else term(y)
        step = gradient(k, w if AT_START in wrong else y) + added
        step = step if NO_RATE in wrong else eta * step
        y = y + step if UPHILL in wrong else y - step
    return y


def _aggregated(wrong: Wrong, models: Vector, sizes: Vector) -> Vector:
    if in_averaging.LAST in wrong:
        last: Vector = np.asarray(models)[-1]
        return last
    weights = np.ones(len(sizes)) if in_averaging.PLAIN in wrong else sizes
    total: Vector = weights @ np.asarray(models)
    return total if NOT_DIVIDED in wrong else total / weights.sum()


def _rounds(
    wrong: Wrong,
    w: Vector,
    gradient: Gradient,
    sizes: Vector,
    cohorts: Sequence[Vector],
    eta: float,
    steps: int,
) -> Vector:
    for cohort in cohorts:
        models = np.array([_train(wrong, w, k, gradient, eta, steps) for k in cohort])
        counted = sizes[cohort]
        mean = _aggregated(wrong, models, counted)
        w = mean * counted.sum() / sizes.sum() if in_averaging.ALL_SAMPLES in wrong else mean
    return w


def _prox(
    wrong: Wrong, w: Vector, k: int, gradient: Gradient, eta: float, steps: int, mu: float
) -> Vector:
    weight = mu * float(np.prod([in_averaging.PULL_FACTORS.get(mistake, 1.0) for mistake in wrong]))
    anchor = np.zeros_like(w) if TO_ZERO in wrong else w
    return _train(wrong, w, k, gradient, eta, steps, lambda y: weight * (y - anchor))


def _controlled(
    wrong: Wrong,
    w: Vector,
    k: int,
    gradient: Gradient,
    eta: float,
    steps: int,
    c: Vector,
    c_k: Vector,
) -> Vector:
    offset = c if in_scaffold.ONLY_SERVER in wrong else c - c_k
    if in_scaffold.NOT_APPLIED in wrong:
        offset = np.zeros_like(c)
    if in_scaffold.SIGN in wrong:
        offset = -offset
    return _train(wrong, w, k, gradient, eta, steps, lambda y: offset)


def _control(
    wrong: Wrong, c_k: Vector, c: Vector, w: Vector, y: Vector, steps: int, eta: float
) -> Vector:
    move = y - w if in_scaffold.MINUS in wrong else w - y
    move = move if in_scaffold.TAU_MISSING in wrong else move / steps
    move = move if in_scaffold.RATE_MISSING in wrong else move / eta
    if in_scaffold.NOT_TAKEN_OUT in wrong:
        return move
    return move + (c - c_k if in_scaffold.REVERSED in wrong else c_k - c)


_PROX = tuple(in_averaging.PULL_FACTORS)
_OFFSET = (in_scaffold.NOT_APPLIED, in_scaffold.SIGN, in_scaffold.ONLY_SERVER)
_RENEWAL = (
    in_scaffold.RATE_MISSING,
    in_scaffold.TAU_MISSING,
    in_scaffold.NOT_TAKEN_OUT,
    in_scaffold.REVERSED,
    in_scaffold.MINUS,
)
LOCAL = Formula(_train, STEP)
AGGREGATE = Formula(_aggregated, (in_averaging.PLAIN, in_averaging.LAST, NOT_DIVIDED))
FEDAVG = Formula(
    _rounds, (*STEP, in_averaging.PLAIN, in_averaging.LAST, NOT_DIVIDED, in_averaging.ALL_SAMPLES)
)
PROX_LOCAL = Formula(_prox, (TERM_WITHOUT_RATE, *_PROX, TO_ZERO, *STEP))
SCAFFOLD_LOCAL = Formula(_controlled, (TERM_WITHOUT_RATE, *_OFFSET, *STEP))
CONTROL = Formula(_control, _RENEWAL)


def _task(
    algorithm: str,
    parameters: Any,
    a: Sequence[float],
    b: Sequence[float],
    changes: Any,
    cohorts: tuple[tuple[int, ...], ...],
) -> Task:
    """Return the problem of ``fedlab_course.check.on_quadratics.start`` in the form of the suite.

    A sample (√a, √a b) has the loss a/2 (w − b)².
    """
    roots = np.sqrt(np.asarray(a, dtype=float))
    sizes = np.broadcast_to(changes.get("sizes", 1), len(a))
    return Task(
        algorithm=algorithm,
        kind="quadratic",
        setting="exercise",
        x=tuple(np.full((n, 1), root) for root, n in zip(roots, sizes, strict=True)),
        y=tuple(np.full(n, y) for y, n in zip(roots * np.asarray(b), sizes, strict=True)),
        start=np.array([START]),
        cohorts=cohorts,
        epochs=changes.get("local_epochs", changes.get("local_steps", STEPS)),
        batch_size=changes.get("batch_size"),
        lr=changes.get("lr", LR),
        parameters=parameters,
    )


def _by_parameter(compute: Callable[..., Vector]) -> Callable[..., Vector]:
    """Let a formula of one parameter compute several, one after another: b_k may be a pair."""

    def of_all(wrong: Wrong, arguments: Sequence[Any], a: Any, b: Any, changes: Any) -> Vector:
        if np.ndim(b) == 1:
            return compute(wrong, arguments, a, b, changes)
        columns = [compute(wrong, arguments, a, column, changes) for column in np.transpose(b)]
        return np.stack(columns, axis=1)

    return of_all


def _cohorts(clients: int, changes: Any) -> tuple[tuple[int, ...], ...]:
    """Return the cohort of every round, as an algorithm that samples uniformly draws it."""
    every = drawn(fl.FedAvg, (), clients, {"clients_per_round": clients, **changes})
    return tuple(tuple(cohorts[0]) for cohorts in every)


def _of_suite(
    algorithm: str,
    formula: type[Right],
    names: Sequence[str],
    fixed: Any,
    mistakes: tuple[str, ...],
) -> Formula:
    """Return a formula of the suite. A case: the algorithm's arguments, a, b, changes of a run."""
    tasks: dict[str, Task] = {}

    def compute(wrong: Wrong, arguments: Sequence[Any], a: Any, b: Any, changes: Any) -> Vector:
        key = repr((arguments, a, list(b), changes))
        if key not in tasks:
            parameters = {**fixed, **dict(zip(names, arguments, strict=True))}
            cohorts = _cohorts(len(a), {"rounds": ROUNDS, **changes})
            tasks[key] = _task(algorithm, parameters, a, b, changes, cohorts)
        answers = with_mistakes(formula, wrong)(tasks[key]).rounds()
        return np.array([answer["w"][0] for answer in answers])

    return Formula(_by_parameter(compute), mistakes)


FEDPROX = _of_suite("FedProx", averaging.FedProx, ["mu"], {}, (*_PROX, in_averaging.OLD_ANCHOR))
SCAFFOLD = _of_suite(
    "Scaffold",
    scaffold.Scaffold,
    [],
    {"option": 2, "server_lr": 1.0},
    (
        *_OFFSET,
        *_RENEWAL,
        in_scaffold.COHORT_SHARE,
        in_scaffold.NO_SHARE,
        in_scaffold.C_FIRST,
        in_scaffold.OVERWRITTEN,
    ),
)
FEDDYN = _of_suite(
    "FedDyn",
    feddyn.FedDyn,
    ["mu"],
    {},
    (
        in_feddyn.NO_LINEAR,
        in_feddyn.LINEAR_SIGN,
        in_feddyn.NO_PROXIMAL,
        in_feddyn.H_SHARE,
        in_feddyn.H_NOT_TAKEN,
        in_feddyn.OLD_H,
    ),
)
