"""Chapter 5, on the digits: what is left of tasks that are trained one after another, under a
penalty?

"tasks_in_turn": two tasks, each held by one client, 20 epochs each, batches of 10, rate 0.05.
"labels": the labels 0 to 4, then 5 to 9. "pixels": all labels, then the same images with their
pixels in another order, as Kirkpatrick et al. (PNAS 2017) have it. ``first`` and ``second``:
accuracy on each task at the end; ``both``: their mean; ``before``: on the first task before the
second begins.

"tiers": 100 clients with one label each, a tier for each label, a fifth of a tier at a time,
rate 0.01, 30 rounds; MAS replaced after each tier, or added up, for many λ. ``just`` and ``kept``:
accuracy on a label right after its turn in a ``round``, and nine updates later, the mean over
labels. Table of ends: whether the run was ``lost``, how many ``rounds`` it did, and its largest
η·2λ·max Ω. A run that diverges has the accuracy of chance, 0.1.
"""

import numpy as np

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal
from fedlab_course.methods import continual

TASKS = {
    "rounds": 1,
    "clients_per_round": 2,
    "local_epochs": 20,
    "batch_size": 10,
    "lr": 0.05,
    "progress": False,
}
TIERS = DIGITS | {"rounds": 30, "lr": 0.01, "eval_every": 30, "progress": False}
ROUNDS = (1, 3, 10, 20, 29)


def two_tasks(seed: int, *, tasks: str, importance: str, strength: float) -> list[ResultRow]:
    """One row."""
    data = fl.load_dataset("digits")
    fed, tests = continual.by_labels(data) if tasks == "labels" else continual.by_pixels(data, seed)
    model = fl.models.mlp(fed, seed=seed)
    algorithm = continual.Continual(strength, importance)  # type: ignore[arg-type]
    ran = continual.watch(fed, model, algorithm, **TASKS, seed=seed)
    knows = (
        continual.knowledge(ran.way, model, tests) if len(ran.way) == 2 else np.full((2, 2), 0.1)
    )
    first, second = knows[1].tolist()
    row = {
        "before": float(knows[0, 0]),
        "first": first,
        "second": second,
        "both": (first + second) / 2,
    }
    return [row | {"stiffest": ran.stiffest}]


def ten_tiers(seed: int, *, strength: float, update: str) -> list[ResultRow]:
    """A row for each of ``ROUNDS``, and one in the table of ends."""
    fed = deal("one label", seed)
    tiers = [int(fed.y[part[0]]) for part in fed.parts]
    model = fl.models.mlp(fed, seed=seed)
    algorithm = fl.FedMas(strength, tiers=tiers, importance_update=update)  # type: ignore[arg-type]
    ran = continual.watch(fed, model, algorithm, **TIERS, seed=seed)
    knows = continual.knowledge(
        ran.way, model, continual.tests_of(fed.dataset, [[label] for label in range(10)])
    )
    rows: list[ResultRow] = []
    for number in ROUNDS:
        curve = np.nan_to_num(continual.recall(knows, range(number - 1, number)), nan=0.1)
        rows.append({"round": number, "just": float(curve[0]), "kept": float(curve[-1])})
    end = {"lost": float(ran.diverged), "rounds": len(ran.way) // 10, "stiffest": ran.stiffest}
    return [*rows, {"table": "ends"} | end]


_STRENGTHS = {
    "uniform": (0.0, 0.01, 0.03, 0.1, 0.3),
    "fisher": (1.0, 10.0, 100.0, 1000.0),
    "mas": (0.01, 0.1, 1.0),
}
_PENALTIES = [
    {"importance": importance, "strength": strength}
    for importance, strengths in _STRENGTHS.items()
    for strength in strengths
]
_TASK_CASES: list[ExperimentCase] = [
    {"tasks": tasks, **penalty} for tasks in ("labels", "pixels") for penalty in _PENALTIES
]
_TIERS = {"replace": (0.0, 0.2, 2.0, 5.0, 10.0, 24.0), "accumulate": (0.05, 0.2)}
_TIER_CASES = [
    {"strength": strength, "update": update} for update, some in _TIERS.items() for strength in some
]
TWO_TASKS = Experiment("tasks_in_turn", two_tasks, _TASK_CASES)
TEN_TIERS = Experiment("tiers", ten_tiers, _TIER_CASES)
