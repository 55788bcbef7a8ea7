"""Faults planted in plain loops: none passes, and nine of ten are named.

Each mutant is the source of ``plain_loops.py`` with one text replaced, and what the report says.
"""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fedconform import Report, check
from fedconform.mistakes import in_averaging, in_feddyn, in_scaffold, in_servers, in_training
from tests.conformance import plain_loops

SOURCE = Path(plain_loops.__file__).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Mutant:
    """``old`` → ``new`` in the loop of ``algorithm``; ``named``: the mistake of the report, or ""
    where no known mistake gives the numbers.
    """

    algorithm: str
    old: str
    new: str
    named: str
    also_old: str = ""
    also_new: str = ""


_EPOCH = "for rows in batches(task, k):"
_LOCAL = "models = [local(task, r, k, w)[0] for k in cohort]"
MUTANTS = (
    # local training
    Mutant("FedAvg", _EPOCH, "for rows in batches(task, k)[:1]:", in_training.ONE_STEP),
    Mutant(
        "FedAvg",
        _EPOCH,
        "for rows in [batches(task, k)[0]] * len(batches(task, k)):",
        in_training.FIRST_BATCH,
    ),
    Mutant(
        "FedAvg",
        "gradient(task, k, y, rows)",
        "gradient(task, k, y, rows[:1])",
        in_training.ONE_SAMPLE,
    ),
    Mutant(
        "FedAvg",
        _EPOCH,
        "for rows in [np.resize(np.append(b, np.arange(len(task.y[k]))), "
        "task.batch_size or len(b)) for b in batches(task, k)]:",
        in_training.FILLED_UP,
    ),
    Mutant(
        "FedAvg",
        _EPOCH,
        "for rows in [b for b in batches(task, k) if len(b) > 1]:",
        in_training.SINGLETONS,
    ),
    Mutant(
        "FedAvg",
        "size = task.batch_size or len(samples)",
        "size = len(samples)",
        in_training.WHOLE,
    ),
    Mutant("FedAvg", "size = task.batch_size or len(samples)", "size = 1", in_training.SAMPLES),
    Mutant(
        "FedAvg",
        "for _ in range(task.epochs_of(r, k)):",
        "for _ in range(1):",
        in_training.ONE_EPOCH,
    ),
    Mutant(
        "FedAvg",
        "gradient(task, k, y, rows)",
        "len(rows) * gradient(task, k, y, rows)",
        in_training.SUMMED,
    ),
    Mutant(
        "FedAvg",
        "y - task.lr_of(r) * v",
        "y - task.lr * v + 0 * task.lr_of(r)",
        in_training.FIRST_RATE,
    ),
    Mutant(
        "FedAvg",
        "range(task.epochs_of(r, k))",
        "range(task.epochs + 0 * task.epochs_of(r, k))",
        in_training.ALL_EPOCHS,
    ),
    Mutant("FedAvg", "task.local_momentum * v +", "", in_training.NO_MOMENTUM),
    Mutant(
        "FedAvg",
        "task.local_momentum * v + gradient(task, k, y, rows)",
        "task.local_momentum * v + (1 - task.local_momentum) * gradient(task, k, y, rows)",
        in_training.MOMENTUM_AS_AVERAGE,
    ),
    Mutant(
        "FedAvg",
        "v = np.zeros_like(w)\n    steps = 0",
        "v = VELOCITY[0] if VELOCITY else np.zeros_like(w)\n    steps = 0",
        in_training.HANDED_ON,
        "v = task.local_momentum * v +",
        "VELOCITY[:] = [v]; v = VELOCITY[0] = task.local_momentum * v +",
    ),
    Mutant(
        "FedAvg",
        "y = w.copy()\n    v",
        "y = w.copy() if k == task.cohorts[r][0] else LATEST[0]\n    v",
        in_training.FROM_THE_LAST,
    ),
    Mutant(
        "FedAvg",
        "y = w.copy()\n    v",
        "y = OWN.get(k, w.copy())\n    v",
        in_training.FROM_OWN,
    ),
    # the mean
    Mutant(
        "FedAvg",
        "[task.sizes[k] for k in cohort], dtype=float)",
        "[1 for k in cohort], dtype=float)",
        in_averaging.PLAIN,
    ),
    Mutant("FedAvg", "w = weighted(task, cohort, models)", "w = models[-1]", in_averaging.LAST),
    Mutant(
        "FedAvg",
        "/ sizes.sum()",
        "/ sum(task.sizes)",
        in_averaging.SHRINKS,
    ),
    Mutant(
        "FedAvg",
        "[task.sizes[k] for k in cohort], dtype=float)",
        "[task.sizes[k] for k in sorted(cohort)], dtype=float)",
        in_averaging.MIXED_UP,
    ),
    Mutant(
        "FedAvg",
        "w = weighted(task, cohort, models)",
        "w = weighted(task, cohort, models) if len(cohort) > 1 else w",
        in_averaging.ALONE,
    ),
    Mutant(
        "FedAvg",
        "w = weighted(task, cohort, models)",
        "w = weighted(task, cohort, models) if r else w",
        in_averaging.LOST,
    ),
    Mutant(
        "FedAvg",
        _LOCAL,
        "cohort = cohort[: len(task.cohorts[0])]\n        " + _LOCAL,
        in_averaging.FIRST_COHORT,
    ),
    # FedProx
    Mutant("FedProx", "mu * (y - received)", "0 * y", in_averaging.NO_PULL),
    Mutant("FedProx", "mu * (y - received)", "2 * mu * (y - received)", in_averaging.DOUBLE_PULL),
    Mutant("FedProx", "mu * (y - received)", "mu / 2 * (y - received)", in_averaging.HALF_PULL),
    Mutant("FedProx", "mu * (y - received)", "mu * (received - y)", in_averaging.PUSH),
    Mutant("FedProx", "received = w", "received = task.start", in_averaging.OLD_ANCHOR),
    Mutant("FedProx", 'mu = task.parameters["mu"]', "mu = 0.5", ""),
    # SCAFFOLD
    Mutant(
        "Scaffold", "correction = c - c_clients[k]", "correction = 0 * c", in_scaffold.NOT_APPLIED
    ),
    Mutant(
        "Scaffold",
        "correction = c - c_clients[k]",
        "correction = c_clients[k] - c",
        in_scaffold.SIGN,
    ),
    Mutant("Scaffold", "correction = c - c_clients[k]", "correction = c", in_scaffold.ONLY_SERVER),
    Mutant("Scaffold", "c_clients[k] - c + (w - y)", "(w - y)", in_scaffold.NOT_TAKEN_OUT),
    Mutant(
        "Scaffold", "c_clients[k] - c + (w - y)", "c - c_clients[k] + (w - y)", in_scaffold.REVERSED
    ),
    Mutant(
        "Scaffold", "steps * task.lr_of(r)", "task.steps[k] * task.lr_of(r)", in_scaffold.PLANNED
    ),
    Mutant("Scaffold", "steps * task.lr_of(r)", "steps * task.lr", in_scaffold.FIRST_RATE),
    Mutant(
        "Scaffold",
        "steps * task.lr_of(r)",
        "task.epochs_of(r, k) * task.lr_of(r)",
        in_scaffold.EPOCHS,
    ),
    Mutant("Scaffold", "/ task.num_clients", "/ len(cohort)", in_scaffold.COHORT_SHARE),
    Mutant("Scaffold", 'task.parameters["server_lr"] * change', "change", in_scaffold.NO_RATE),
    Mutant(
        "Scaffold",
        'task.parameters["server_lr"] * change',
        'task.parameters["server_lr"] ** 2 * change',
        in_scaffold.RATE_TWICE,
    ),
    Mutant(
        "Scaffold",
        'w = w + task.parameters["server_lr"] * change',
        'w = task.parameters["server_lr"] * (w + change)',
        in_scaffold.MODELS_SCALED,
    ),
    Mutant("Scaffold", "c = np.zeros_like(w)\n", "c = w.copy()\n", in_scaffold.FROM_WEIGHTS),
    Mutant("Scaffold", "c_clients[k] = new", "pass", in_scaffold.NOT_STORED),
    # FedNova
    Mutant("FedNova", "(w - y) / norm", "(w - y)", ""),
    Mutant("FedNova", "effective * direction", "direction", in_averaging.NO_TAU),
    Mutant(
        "FedNova",
        "effective * direction",
        "effective * task.num_clients / len(cohort) * direction",
        in_averaging.TWICE_RESCALED,
    ),
    Mutant(
        "FedNova",
        "norm = tau\n",
        "tau = task.steps[k]\n            norm = tau\n",
        in_averaging.PLANNED,
    ),
    # servers
    Mutant(
        "FedAvgM",
        'task.parameters["beta"]',
        '(1 - task.parameters["beta"])',
        in_servers.BETA_EXCHANGED,
    ),
    Mutant(
        "FedAvgM",
        "velocity + change",
        'velocity + (1 - task.parameters["beta"]) * change',
        in_servers.DAMPENED,
    ),
    Mutant("FedAvgM", 'task.parameters["beta"] * velocity', "0 * velocity", in_servers.NOT_KEPT),
    Mutant(
        "FedAdam",
        "m = beta1 * m + (1 - beta1) * change",
        "m = (1 - beta1) * m + beta1 * change",
        in_servers.BETA1_EXCHANGED,
    ),
    Mutant(
        "FedAdam",
        "v = beta2 * v + (1 - beta2) * square",
        "v = (1 - beta2) * v + beta2 * square",
        in_servers.BETA2_EXCHANGED,
    ),
    Mutant("FedAdam", "(np.sqrt(v) + tau)", "np.sqrt(v + tau)", in_servers.INSIDE),
    Mutant("FedAdam", "(np.sqrt(v) + tau)", "np.sqrt(v)", in_servers.NO_TAU),
    Mutant("FedYogi", "np.sign(v - square)", "np.sign(square - v)", in_servers.YOGI_SIGN),
    Mutant("FedAdagrad", "v = v + square", "v = 0.9 * v + 0.1 * square", ""),
    # FedDyn
    Mutant("FedDyn", "- linear)", "+ linear)", in_feddyn.LINEAR_SIGN),
    Mutant("FedDyn", "mu * (y - received) - linear)", "-linear)", in_feddyn.NO_PROXIMAL),
    Mutant("FedDyn", "- h / mu", "+ h / mu", in_feddyn.H_SIGN),
    Mutant("FedDyn", "/ task.num_clients", "/ len(cohort)", in_feddyn.H_SHARE),
    Mutant(
        "FedDyn",
        "h_clients[k] -= mu * (y - w)",
        "h_clients[k] = -mu * (y - w)",
        in_feddyn.NOT_ADDED,
    ),
    # q-FedAvg
    Mutant("QFedAvg", "q * value ** (q - 1)", "q * value", in_servers.LINEAR_POWER),
    Mutant("QFedAvg", "(d @ d)", "(d @ d) ** 0.5", in_servers.NO_SQUARE),
    Mutant(
        "QFedAvg", "value = loss(task, k, w)", "value = loss(task, k, y)", in_servers.LOSS_AFTER
    ),
    Mutant("QFedAvg", "rate = 1 / task.lr_of(r)", "rate = 1.0", in_servers.UNIT_L),
)
# what some mutants keep between calls
EXTRA = """
OWN, LATEST, VELOCITY = {}, [None], []
_local = local
_run = run


def run(task):
    OWN.clear()
    VELOCITY.clear()
    return _run(task)


def local(task, r, k, w, *term):
    result = _local(task, r, k, w, *term)
    LATEST[0] = OWN[k] = result[0]
    return result
"""


def report_of(mutant: Mutant) -> Report:
    """The report on the loop with the fault."""
    name = {"FedAdam": "adaptive", "FedYogi": "adaptive", "FedAdagrad": "adaptive"}
    start = SOURCE.find(f"def {name.get(mutant.algorithm, mutant.algorithm.lower())}(")
    head, body = SOURCE[:start], SOURCE[start:]
    changed = head + body.replace(mutant.old, mutant.new, 1)
    if mutant.old not in body:
        changed = head.replace(mutant.old, mutant.new) + body
    assert changed != SOURCE, mutant.old
    assert mutant.also_old in changed
    if mutant.also_old:
        changed = changed.replace(mutant.also_old, mutant.also_new)
    module = ModuleType("mutant")
    exec(compile(changed + EXTRA, "mutant", "exec"), vars(module))
    with np.errstate(all="ignore"):
        return check(module.run, [mutant.algorithm])


def is_named(mutant: Mutant, report: Report) -> bool:
    """Whether each entry that fails has the mistake as its only explanation, or among few."""
    return bool(mutant.named) and all(
        any(mutant.named in mistakes for mistakes in sets) for sets in report.mistakes.values()
    )


def test_the_plain_loops_pass() -> None:
    report = check(plain_loops.run, list(plain_loops.RUNS))
    assert report.passed and {row.mark() for row in report.rows} == {"pass", "–"}, str(report)
    absent = {row.property for row in report.rows if row.passed is None}
    assert absent == {"batch normalisation"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: f"{one.algorithm}: {one.new}")
def test_a_mutant_never_passes_and_is_named(mutant: Mutant) -> None:
    report = report_of(mutant)
    assert not report.passed
    assert "convention" not in {row.mark() for row in report.rows if row.passed is False}
    assert report.mistakes
    assert is_named(mutant, report) == bool(mutant.named), str(report)


def test_there_are_enough_mutants_and_nine_of_ten_are_named() -> None:
    assert len(MUTANTS) >= 40
    assert len({(one.algorithm, one.old, one.new) for one in MUTANTS}) == len(MUTANTS)
    named = [mutant for mutant in MUTANTS if mutant.named]
    assert len(named) >= 0.9 * len(MUTANTS)
