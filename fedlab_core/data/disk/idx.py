"""MNIST and Fashion-MNIST: 60,000 training and 10,000 test images of 28 × 28 grey values, in idx files."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, content
from fedlab_core.data.disk.sources import Member, Source

DIGITS = tuple(str(digit) for digit in range(10))
GARMENTS = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
_UNSIGNED_BYTE = 8


def read_idx_dataset(source: Source, files: Mapping[str, Path]) -> Dataset:
    """The data set in the four idx ``files`` (member name → path, plain or compressed).

    ``x`` float32 [n, 1, 28, 28] in [0, 1]; ``y`` int64 [n] in 0 … 9. Raises ``DatasetCorrupt`` for a damaged file.
    """
    train_images, train_labels, test_images, test_labels = (
        _parse(files[member.name], member) for member in source.members
    )
    return Dataset(
        name=source.name,
        train=_split(train_images, train_labels),
        test=_split(test_images, test_labels),
        num_classes=10,
        classes=GARMENTS if source.name == "fashion-mnist" else DIGITS,
    )


def _parse(path: Path, member: Member) -> np.ndarray:
    """The bytes of one idx file as an array: uint8 images [n, 28, 28] or labels [n].

    The file opens with two zero bytes, the type and the number of axes, a byte each, and the length of each axis in
    four bytes, the highest first; the values follow row by row.
    """
    images = "images" in member.name
    num_axes = 3 if images else 1
    start = 4 + 4 * num_axes
    data = content(path, member)
    if data[:4] != bytes([0, 0, _UNSIGNED_BYTE, num_axes]):
        raise DatasetCorrupt(f"{path}: is not an idx file of {'images' if images else 'labels'}")
    shape = tuple(np.frombuffer(data, dtype=">u4", count=num_axes, offset=4).tolist())
    expected = ((member.size - start) // (28 * 28), 28, 28) if images else (member.size - start,)
    if shape != expected:
        raise DatasetCorrupt(f"{path}: holds an array of shape {shape}, but must hold {expected}")
    array = np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)
    if not images and array.max() > 9:
        raise DatasetCorrupt(f"{path}: holds the label {array.max()}; labels lie in 0 … 9")
    return array


def _split(images: np.ndarray, labels: np.ndarray) -> Split:
    x = torch.from_numpy(images[:, None].astype(np.float32)).div_(255)
    return Split(x, torch.from_numpy(labels.astype(np.int64)))
