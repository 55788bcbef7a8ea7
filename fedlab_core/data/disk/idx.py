"""MNIST and Fashion-MNIST: 60,000 training and 10,000 test images of 28 × 28 grey values, in idx files."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, content
from fedlab_core.data.disk.sources import Member, Source
from fedlab_core.data.disk.torchvision_guard import import_torchvision


def read_idx_dataset(source: Source, files: Mapping[str, Path]) -> Dataset:
    """The data set in the four idx ``files`` (member name → path, plain or compressed), parsed by torchvision.

    ``x`` float32 [n, 1, 28, 28] in [0, 1]; ``y`` int64 [n] in 0 … 9.
    Raises ``DatasetCorrupt`` for a damaged file, ``ImportError`` without torchvision.
    """
    torchvision = import_torchvision()
    tensors = [_parse(torchvision.datasets.mnist, files[member.name], member) for member in source.members]
    train_images, train_labels, test_images, test_labels = tensors
    fashion = source.name == "fashion-mnist"
    classes = torchvision.datasets.FashionMNIST.classes if fashion else [str(digit) for digit in range(10)]
    return Dataset(
        name=source.name,
        train=_split(train_images, train_labels, files[source.members[1].name]),
        test=_split(test_images, test_labels, files[source.members[3].name]),
        num_classes=10,
        classes=tuple(classes),
    )


def _parse(reader: Any, path: Path, member: Member) -> torch.Tensor:
    """The bytes of one idx file as a tensor: uint8 images [n, 28, 28] or int64 labels [n]."""
    images = "images" in member.name
    data = content(path, member)
    with tempfile.TemporaryDirectory(prefix="fedlab_core-") as folder:
        plain = Path(folder) / member.name  # torchvision parses plain files only
        plain.write_bytes(data)
        try:
            tensor: torch.Tensor = (reader.read_image_file if images else reader.read_label_file)(str(plain))
        except (AssertionError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DatasetCorrupt(f"{path}: is not an idx file of {'images' if images else 'labels'}") from error
    samples = (member.size - 16) // (28 * 28) if images else member.size - 8
    expected = (samples, 28, 28) if images else (samples,)
    if tuple(tensor.shape) != expected:
        raise DatasetCorrupt(f"{path}: holds an array of shape {tuple(tensor.shape)}, but must hold {expected}")
    return tensor


def _split(images: torch.Tensor, labels: torch.Tensor, label_file: Path) -> Split:
    if int(labels.max()) > 9:
        raise DatasetCorrupt(f"{label_file}: holds the label {int(labels.max())}; labels lie in 0 … 9")
    return Split(images.unsqueeze(1).to(torch.float32).div_(255), labels)
