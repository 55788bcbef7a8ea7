"""Two tasks one after the other on the digits: how much of both is left under a penalty (chapter 6)?

"labels": the labels 0 to 4, then 5 to 9. "pixels": all labels, then the same images with their pixels in another order,
as Kirkpatrick et al. (PNAS 2017) have it. One client holds each task; 20 epochs each, batches of 10, rate 0.05.
"""

import numpy as np

import fedlab_core as fl
from fedlab_course.chapters.ch06_forgetting import continual
from fedlab_course.experiments.base import Case, Experiment, Row

SETTING = {"rounds": 1, "clients_per_round": 2, "local_epochs": 20, "batch_size": 10, "lr": 0.05}


def run(seed: int, *, tasks: str, importance: str, strength: float) -> list[Row]:
    """``first`` and ``second``: accuracy on each task at the end; ``both``: their mean; ``before``: on the first task
    before the second begins. A run that diverges has the accuracy of chance, 0.1.
    """
    data = fl.load_dataset("digits")
    fed, tests = continual.by_labels(data) if tasks == "labels" else continual.by_pixels(data, seed)
    model = fl.models.mlp(fed, seed=seed)
    algorithm = continual.Continual(strength, importance)  # type: ignore[arg-type]
    ran = continual.watch(fed, model, algorithm, **SETTING, progress=False, seed=seed)
    knows = continual.knowledge(ran.way, model, tests) if len(ran.way) == 2 else np.full((2, 2), 0.1)
    first, second = knows[1].tolist()
    row = {"before": float(knows[0, 0]), "first": first, "second": second, "both": (first + second) / 2}
    return [row | {"stiffest": ran.stiffest}]


_STRENGTHS = {"uniform": (0.0, 0.01, 0.03, 0.1, 0.3), "fisher": (1.0, 10.0, 100.0, 1000.0), "mas": (0.01, 0.1, 1.0)}
_CASES: list[Case] = [
    {"tasks": tasks, "importance": importance, "strength": strength}
    for tasks in ("labels", "pixels")
    for importance, strengths in _STRENGTHS.items()
    for strength in strengths
]
TWO_TASKS = Experiment("c06_tasks", run, _CASES)
