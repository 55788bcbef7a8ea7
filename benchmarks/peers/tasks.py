"""The four tasks. Networks, clients a round, epochs and batch sizes of the first three are those of
speed.py.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

import fedlab_core as fl
from benchmarks.peers.adapters import networks, protocol

Layers = list[list[object]]
MOST_ROUNDS = 64
CLASSES = 10


@dataclass(frozen=True)
class Task:
    """One round: ``cohort`` of ``clients`` clients train on ``size`` samples each.

    ``rounds`` are counted in one run. The accuracy of a peer after them may differ from ours by
    ``tolerance``.
    """

    name: str
    dataset: str
    layers: Layers
    clients: int
    size: int
    cohort: int
    epochs: int
    batch_size: int
    lr: float
    rounds: int
    tolerance: float = 0.05

    @property
    def samples_per_round(self) -> int:
        return self.cohort * self.size * self.epochs

    def with_rounds(self, rounds: int) -> "Task":
        """The same task with another number of counted rounds."""
        return replace(self, rounds=rounds)

    def digest(self) -> str:
        """A short name of these settings. Stored runs with other settings are not used."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]


def dense(*widths: int) -> Layers:
    """Linear layers with ReLU between them."""
    layers: Layers = []
    for inputs, outputs in pairwise(widths):
        layers += [["linear", inputs, outputs], ["relu"]]
    return layers[:-1]


def convolution(channels: int, filters: int) -> Layers:
    """A convolution 5×5 with ReLU and a maximum over 2×2."""
    return [["convolution", channels, filters, 5], ["relu"], ["maxpool"]]


MNIST_CNN = [*convolution(1, 16), ["flatten"], *dense(2304, 128, 64, 10)]
LENET = [*convolution(3, 6), *convolution(6, 16), ["flatten"], *dense(400, 120, 84, 10)]

TASKS = {
    task.name: task
    for task in (
        Task(
            "digits-mlp", "digits", [["flatten"], *dense(64, 32, 10)], 96, 15, 20, 5, 10, 0.05, 20
        ),
        Task(
            "mnist-mlp", "mnist", [["flatten"], *dense(784, 200, 10)], 100, 600, 10, 1, 10, 0.05, 10
        ),
        Task("mnist-cnn", "mnist", MNIST_CNN, 100, 600, 20, 1, 10, 0.05, 5),
        Task("cifar-lenet", "cifar10", LENET, 100, 500, 10, 1, 50, 0.1, 15),
    )
}


def centred(images: torch.Tensor) -> np.ndarray:
    """Images in [−1, 1], as in BlazeFL's benchmark: LeNet learns from them in a few rounds."""
    return (2 * images - 1).numpy()


def work_of(task: Task) -> protocol.Work:
    """The data, the cohorts and the initial weights. Raises ``DatasetNotFound``."""
    data = fl.load_dataset(task.dataset)
    generator = np.random.default_rng(0)
    chosen = generator.permutation(len(data.train))[: task.clients * task.size]
    draws = [generator.choice(task.clients, task.cohort, replace=False) for _ in range(MOST_ROUNDS)]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = networks.module_of(task.layers)
    return protocol.Work(
        x=centred(data.train.x),
        y=data.train.y.numpy(),
        test_x=centred(data.test.x),
        test_y=data.test.y.numpy(),
        parts=chosen.reshape(task.clients, task.size),
        cohorts=np.array([np.sort(draw) for draw in draws]),
        epochs=task.epochs,
        batch_size=task.batch_size,
        lr=task.lr,
        layers=task.layers,
        start={name: value.numpy() for name, value in module.state_dict().items()},
    )


def file_of(task: Task, folder: Path) -> Path:
    """The file of a task in ``folder``, written if it is not there; for any number of rounds."""
    path = folder / f"{task.name}-{task.with_rounds(0).digest()}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part.npz")
        protocol.save(unfinished, work_of(task))
        unfinished.replace(path)
    return path
