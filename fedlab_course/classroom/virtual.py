"""The digits data set in the class: the test set, virtual clients, samples to pick from."""

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

import fedlab_core as fl
from fedlab_core.data import Dataset, Split
from fedlab_core.randomness import stream
from fedlab_course.classroom import assignment

HIDDEN = (32,)
SAMPLES = 6  # of each label, for those who pick instead of drawing


@cache
def digits() -> Dataset:
    """The digits in float64, as phones compute."""
    data = fl.load_dataset("digits")
    train, test = (Split(part.x.double(), part.y) for part in (data.train, data.test))
    return Dataset(data.name, train, test, data.num_classes, data.classes)


def model(seed: int) -> nn.Module:
    """The network 64-32-10 with its initial weights."""
    data = digits()
    fed = fl.FederatedDataset(data, [np.arange(len(data.train))])
    return fl.models.mlp(fed, HIDDEN, seed=seed)


def test_samples() -> tuple[Tensor, Tensor]:
    """The digits' test set."""
    return digits().test.x, digits().test.y


def part(mode: str, number: int, seed: int) -> tuple[Tensor, Tensor]:
    """Samples of the digits for a task as the seat ``number`` has it, with the labels in turn.

    Places of a task that a phone keeps for its own test are among them.
    """
    data = digits()
    labels = assignment.labels(mode, number)
    each = assignment.MODES[mode][1]
    chosen = []
    for label in labels:
        own = np.flatnonzero(data.train.y.numpy() == label)
        order = stream(seed, f"classroom {label}").permutation(own)
        first = number * each
        chosen.append(np.take(order, np.arange(first, first + each), mode="wrap"))
    index = torch.from_numpy(np.stack(chosen, axis=1).ravel())
    return data.train.x[index], data.train.y[index]


def divided(
    x: Tensor, y: Tensor, num_labels: int, number: int
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The samples of the seat ``number`` that train, and those that are held back."""
    places = range(len(y))
    held = torch.tensor([assignment.is_held(place, num_labels, number) for place in places])
    return (x[~held], y[~held]), (x[held], y[held])


def samples() -> dict[str, list[str]]:
    """Label → some images of the training set, 64 letters each: A is 0, Q is 16."""
    data = digits()
    found = {}
    for label in range(10):
        own = torch.nonzero(data.train.y == label).flatten()[-SAMPLES:]
        rows = (data.train.x[own].reshape(len(own), -1) * 16 + 65).byte().tolist()
        found[str(label)] = [bytes(row).decode() for row in rows]
    return found
