"""Read MNIST and Fashion-MNIST from idx files, and CIFAR-10 from its official binary layout.

Images become ``x`` float32 [n, channels, height, width] in [0, 1], labels ``y`` int64 [n] in 0 … 9.
"""

import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, Location, cache_folder, content, md5_of
from fedlab_core.data.disk.sources import Member
from fedlab_core.files import replacing

DIGITS = tuple("0123456789")
GARMENTS = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def read_idx_dataset(name: str, location: Location) -> Dataset:
    """Read 60,000 training and 10,000 test images of 28 × 28 grey values from four idx files."""
    arrays = [_idx(path, member) for member, path in location.files.items()]
    train, test = (_split(images[:, None], labels) for images, labels in (arrays[:2], arrays[2:]))
    return Dataset(name, train, test, 10, GARMENTS if name == "fashion-mnist" else DIGITS)


def read_cifar10(name: str, location: Location) -> Dataset:
    """Read 50,000 training and 10,000 test images of 32 × 32 pixels in colour from six batch files.

    Source: A. Krizhevsky, Learning multiple layers of features from tiny images (2009).
    """
    *batches, last = [_batch(path, member) for member, path in location.files.items()]
    train, test = (_split(b[:, 1:].reshape(-1, 3, 32, 32), b[:, 0]) for b in (np.concatenate(batches), last))
    return Dataset(name, train, test, 10, CIFAR10_CLASSES)


def _idx(path: Path, member: Member) -> np.ndarray:
    """Read uint8 images [n, 28, 28] or labels [n] from an idx file.

    Its header: two zero bytes, the type (8 is a byte), the number of axes, and the length of each axis in four bytes.
    """
    shape = ((member.size - 16) // (28 * 28), 28, 28) if "images" in member.name else (member.size - 8,)
    header = struct.pack(f">4B{len(shape)}I", 0, 0, 8, len(shape), *shape)
    data = content(path, member)
    if not data.startswith(header):
        raise DatasetCorrupt(f"{path}: must be an idx file of bytes with shape {shape}, but starts with {data[:16]!r}")
    return np.frombuffer(data, dtype=np.uint8, offset=len(header)).reshape(shape)


def _batch(path: Path, member: Member) -> np.ndarray:
    """Read uint8 [n, 3073]: one byte label, then 1024 each of red, green and blue, row by row.

    A file packed with xz takes seconds to unpack, so the user's cache keeps the bytes.
    """
    kept = cache_folder() / "unpacked" / member.md5
    is_kept = path.suffix == ".xz" and kept.is_file() and kept.stat().st_size == member.size
    data = kept.read_bytes() if is_kept else content(path, member)
    if path.suffix == ".xz" and not is_kept:
        if md5_of(data) != member.md5:
            raise DatasetCorrupt(f"{path}: wrong checksum")
        with suppress(OSError), replacing(kept) as file:  # without a cache it is unpacked every time
            file.write(data)
    return np.frombuffer(data, np.uint8).reshape(-1, 1 + 3 * 32 * 32)


def _split(images: np.ndarray, labels: np.ndarray) -> Split:
    return Split(torch.from_numpy(images.astype(np.float32)).div_(255), torch.from_numpy(labels.astype(np.int64)))
