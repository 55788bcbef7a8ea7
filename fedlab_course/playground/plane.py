"""The data sets of the playground in the plane."""

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.data import Dataset, Split
from fedlab_core.randomness import stream

PLANES = ("moons", "circles", "spiral", "blobs")
UNIT = 1024  # coordinates are multiples of 1/UNIT, so that the page has exactly the same numbers
_TRAIN = 800
_TEST = 200


def plane(name: str) -> Dataset:
    """Draw 800 training and 200 test points of the plane, always the same.

    ``name``: "moons" (two labels), "circles" (three rings), "spiral" (three arms) or "blobs" (five
    clouds). ``x``: float32 [n, 2] within about −1 … 1. Raises ``ValueError`` for another name.
    """
    validation.choice("name", name, PLANES)
    rng = stream(0, f"playground {name}")
    num_classes = {"moons": 2, "circles": 3, "spiral": 3, "blobs": 5}[name]
    y = rng.permutation(np.arange(_TRAIN + _TEST) % num_classes)
    along = rng.random(len(y))
    if name == "moons":
        angle = np.pi * (along + y)
        x = np.stack([np.cos(angle) + y - 0.5, np.sin(angle) + 0.5 * y - 0.25], axis=1) * 0.6
    elif name == "circles":
        x = _polar(0.25 + 0.35 * y, 2 * np.pi * along)
    elif name == "spiral":
        x = _polar(0.1 + 0.85 * along, 2 * np.pi * (y / 3 + 0.75 * along))
    else:
        x = _polar(0.65, 2 * np.pi * y / 5 + 0.3)
    x += rng.normal(
        0, {"moons": 0.09, "circles": 0.06, "spiral": 0.03, "blobs": 0.17}[name], x.shape
    )
    x = np.clip(np.rint(x * UNIT) / UNIT, -1.5, 1.5).astype(np.float32)
    points = torch.from_numpy(x)
    labels = torch.from_numpy(y)
    train = Split(points[:_TRAIN], labels[:_TRAIN])
    test = Split(points[_TRAIN:], labels[_TRAIN:])
    return Dataset(name, train, test, num_classes, tuple(map(str, range(num_classes))))


def _polar(radius: np.ndarray | float, angle: np.ndarray) -> np.ndarray:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
