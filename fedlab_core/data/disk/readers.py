"""Read MNIST and Fashion-MNIST from idx files, and CIFAR-10 from its official binary layout.

A reader takes a source and its files (member name → path, plain or compressed). Images become ``x`` float32
[n, channels, height, width] in [0, 1], labels ``y`` int64 [n] in 0 … 9. ``DatasetCorrupt`` names a damaged file.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, cache_folder, content, md5_of
from fedlab_core.data.disk.sources import Member, Source
from fedlab_core.files import replacing

DIGITS = tuple("0123456789")
GARMENTS = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_UNSIGNED_BYTE = 8


def read_idx_dataset(source: Source, files: Mapping[str, Path]) -> Dataset:
    """The data set in four idx ``files``: 60,000 training and 10,000 test images of 28 × 28 grey values."""
    arrays = [_parse_idx(files[member.name], member) for member in source.members]
    train, test = (_split(images[:, None], labels) for images, labels in (arrays[:2], arrays[2:]))
    return Dataset(source.name, train, test, 10, GARMENTS if source.name == "fashion-mnist" else DIGITS)


def read_cifar10(source: Source, files: Mapping[str, Path]) -> Dataset:
    """The data set in six batch ``files``: 50,000 training and 10,000 test images of 32 × 32 pixels in colour.

    Source: A. Krizhevsky, Learning multiple layers of features from tiny images (2009).
    """
    *batches, last = [_records(files[member.name], member) for member in source.members]
    train, test = (_split(b[:, 1:].reshape(-1, 3, 32, 32), b[:, 0]) for b in (np.concatenate(batches), last))
    return Dataset(source.name, train, test, 10, CIFAR10_CLASSES)


def _parse_idx(path: Path, member: Member) -> np.ndarray:
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
    return array if images else _check_labels(path, array)


def _records(path: Path, member: Member) -> np.ndarray:
    """A CIFAR-10 batch as uint8 [n, 3073]: one byte label, then 1024 for each of red, green and blue, row by row."""
    records = np.frombuffer(_batch(path, member), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    _check_labels(path, records[:, 0])
    return records


def _batch(path: Path, member: Member) -> bytes:
    """The bytes of one CIFAR-10 batch. What xz has packed is unpacked once, into the user's cache: it takes seconds."""
    if path.suffix != ".xz":
        return content(path, member)
    unpacked = cache_folder() / "unpacked" / member.md5
    if unpacked.is_file() and unpacked.stat().st_size == member.size:
        return unpacked.read_bytes()
    data = content(path, member)
    if md5_of(data) != member.md5:
        raise DatasetCorrupt(f"{path}: wrong checksum")
    try:
        with replacing(unpacked) as file:
            file.write(data)
    except OSError as error:
        warnings.warn(f"{unpacked} cannot be written ({error}); {path.name} is unpacked each time.", stacklevel=2)
    return data


def _check_labels(path: Path, labels: np.ndarray) -> np.ndarray:
    if labels.max() > 9:
        raise DatasetCorrupt(f"{path}: holds the label {labels.max()}; labels lie in 0 … 9")
    return labels


def _split(images: np.ndarray, labels: np.ndarray) -> Split:
    return Split(torch.from_numpy(images.astype(np.float32)).div_(255), torch.from_numpy(labels.astype(np.int64)))
