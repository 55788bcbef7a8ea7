"""CIFAR-10 from its official binary layout: 50,000 training and 10,000 test images of 32 × 32 pixels in colour."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, cache_folder, content, md5_of
from fedlab_core.data.disk.lock import locked
from fedlab_core.data.disk.sources import Member, Source

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SHAPE = (3, 32, 32)
_RECORD = 1 + 3 * 32 * 32


def read_cifar10(source: Source, files: Mapping[str, Path]) -> Dataset:
    """The data set in the six batch ``files`` (member name → path, plain or compressed).

    ``x`` float32 [n, 3, 32, 32] in [0, 1], channels red, green, blue; ``y`` int64 [n] in 0 … 9.
    Raises ``DatasetCorrupt`` for a damaged file.
    Source: A. Krizhevsky, Learning multiple layers of features from tiny images (2009).
    """
    *train, test = [_records(files[member.name], member) for member in source.members]
    return Dataset(
        name=source.name,
        train=_split(np.concatenate(train)),
        test=_split(test),
        num_classes=10,
        classes=CLASSES,
    )


def _records(path: Path, member: Member) -> np.ndarray:
    """A batch as uint8 [n, 3073]: in each record one byte label, then 1024 bytes per channel, row by row."""
    records = np.frombuffer(_batch(path, member), dtype=np.uint8).reshape(-1, _RECORD)
    highest = int(records[:, 0].max())
    if highest > 9:
        raise DatasetCorrupt(f"{path}: holds the label {highest}; labels lie in 0 … 9")
    return records


def _split(records: np.ndarray) -> Split:
    x = torch.from_numpy(records[:, 1:].astype(np.float32)).div_(255)
    return Split(x.reshape(-1, *_SHAPE), torch.from_numpy(records[:, 0].astype(np.int64)))


def _batch(path: Path, member: Member) -> bytes:
    """The bytes of one batch. What xz has packed is unpacked once, into the user's cache: it takes a second each."""
    if path.suffix != ".xz":
        return content(path, member)
    unpacked = cache_folder() / "unpacked" / member.md5
    if unpacked.is_file() and unpacked.stat().st_size == member.size:
        return unpacked.read_bytes()
    data = content(path, member)
    if md5_of(data) != member.md5:
        raise DatasetCorrupt(f"{path}: wrong checksum")
    try:
        _write_atomically(unpacked, data)
    except OSError as error:
        warnings.warn(f"{unpacked} cannot be written ({error}); {path.name} is unpacked each time.", stacklevel=2)
    return data


def _write_atomically(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + ".new")
    with locked(path.with_name(path.name + ".lock"), str(path)):
        try:
            temporary.write_bytes(data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
