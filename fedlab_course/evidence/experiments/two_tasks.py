"""Two tasks one after the other on the digits: how much of both is left under a penalty (chapter 6).

"labels": the labels 0 to 4, then 5 to 9. "pixels": all labels, then the same images with their pixels in another order,
as Kirkpatrick et al. (PNAS 2017) have it. One client holds each task; 20 epochs each, batches of 10, rate 0.05, an MLP.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch06_forgetting import continual
from fedlab_course.evidence.experiments.base import Case, Experiment, Row

SETTING = {"rounds": 1, "clients_per_round": 2, "local_epochs": 20, "batch_size": 10, "lr": 0.05}
MOST_IMAGES = 1500  # of a task: all of the digits, and of larger data what a live run has time for
Tests = list[tuple[torch.Tensor, torch.Tensor]]


def by_labels(data: fl.data.Dataset) -> tuple[fl.FederatedDataset, Tests]:
    """Two clients, with ``MOST_IMAGES`` at most of the labels 0 to 4 and 5 to 9, and the test images of each."""
    tasks = [range(5), range(5, 10)]
    parts = [np.flatnonzero(np.isin(data.train.y.numpy(), list(task)))[:MOST_IMAGES] for task in tasks]
    return fl.FederatedDataset(data, parts), continual.tests_of(data, tasks)


def by_pixels(data: fl.data.Dataset, seed: int) -> tuple[fl.FederatedDataset, Tests]:
    """Two clients with all images, as they are and with their pixels in an order of this ``seed``, and tests."""
    order = torch.from_numpy(fl.randomness.stream(seed, "partition").permutation(data.train.x[0].numel()))
    train, test = ((split.x, split.x.flatten(1)[:, order].reshape(split.x.shape)) for split in (data.train, data.test))
    clients = [(x, data.train.y) for x in train]
    fed = fl.FederatedDataset.from_clients(clients, test=(data.test.x, data.test.y))
    return fed, [(x, data.test.y) for x in test]


def run(seed: int, *, tasks: str, importance: str, strength: float) -> list[Row]:
    """``first`` and ``second``: accuracy on each task at the end; ``both``: their mean; ``before``: on the first task
    before the second begins. A run that diverges knows what chance knows, 0.1.
    """
    data = fl.load_dataset("digits")
    fed, tests = by_labels(data) if tasks == "labels" else by_pixels(data, seed)
    model = fl.models.mlp(fed, seed=seed)
    algorithm = continual.Continual(strength, importance)  # type: ignore[arg-type]
    ran = continual.watch(fed, model, algorithm, **SETTING, progress=False, seed=seed)
    knows = continual.knowledge(ran.way, model, tests) if len(ran.way) == 2 else np.full((2, 2), 0.1)
    first, second = knows[1].tolist()
    return [
        {"tasks": tasks, "importance": importance, "strength": strength, "seed": seed, "before": float(knows[0, 0])}
        | {"first": first, "second": second, "both": (first + second) / 2, "stiffest": ran.stiffest}
    ]


_STRENGTHS = {"uniform": (0.0, 0.01, 0.03, 0.1, 0.3), "fisher": (1.0, 10.0, 100.0, 1000.0), "mas": (0.01, 0.1, 1.0)}
_CASES: list[Case] = [
    {"tasks": tasks, "importance": importance, "strength": strength}
    for tasks in ("labels", "pixels")
    for importance, strengths in _STRENGTHS.items()
    for strength in strengths
]
TWO_TASKS = Experiment("c06_tasks", run, _CASES, tuple(range(10)))
