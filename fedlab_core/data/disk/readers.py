"""Read MNIST, Fashion-MNIST and CIFAR-10 from files on disk, with torchvision.

Images become ``x`` float32 [n, channels, height, width] in [0, 1], labels ``y`` int64 [n] in 0 … 9.
"""

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import Location, plain_files
from fedlab_core.data.disk.vision import import_torchvision

DIGITS = tuple("0123456789")
GARMENTS = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
CIFAR10_CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)


def read_idx_dataset(name: str, location: Location) -> Dataset:
    """Read 60,000 training and 10,000 test images of 28 × 28 grey values from four idx files."""
    mnist = import_torchvision().datasets.mnist
    with plain_files(location) as (train_images, train_labels, test_images, test_labels):
        train = _split(
            mnist.read_image_file(train_images)[:, None], mnist.read_label_file(train_labels)
        )
        test = _split(
            mnist.read_image_file(test_images)[:, None], mnist.read_label_file(test_labels)
        )
    return Dataset(name, train, test, 10, GARMENTS if name == "fashion-mnist" else DIGITS)


def read_cifar10(name: str, location: Location) -> Dataset:
    """Read 50,000 training and 10,000 test images of 32 × 32 pixels in colour from six batch files.

    Source: A. Krizhevsky, Learning multiple layers of features from tiny images (2009).
    """
    read = _cifar10_records if location.folder.name == "cifar-10-batches-bin" else _cifar10_pickles
    train, test = read(location)
    return Dataset(name, train, test, 10, CIFAR10_CLASSES)


def _cifar10_pickles(location: Location) -> list[Split]:
    """Read the files that torchvision downloads. No pickle is
    opened before all files are checked.
    """

    class Checked(import_torchvision().datasets.CIFAR10):  # type: ignore[misc]
        """The set of torchvision without its own check, which reads all files once more for each
        part.
        """

        def _check_integrity(self) -> bool:
            return True

    with plain_files(location):
        parts = [Checked(location.folder.parent, train=is_train) for is_train in (True, False)]
    return [
        _split(torch.from_numpy(part.data).permute(0, 3, 1, 2), torch.tensor(part.targets))
        for part in parts
    ]


def _cifar10_records(location: Location) -> list[Split]:
    """Read the official binary layout, which torchvision does not read: records of a label and
    3,072 colour values.
    """
    with plain_files(location) as paths:
        *batches, last = (
            np.fromfile(path, np.uint8).reshape(-1, 1 + 3 * 32 * 32) for path in paths
        )
    parts = [torch.from_numpy(records) for records in (np.concatenate(batches), last)]
    return [_split(records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]) for records in parts]


def _split(images: torch.Tensor, labels: torch.Tensor) -> Split:
    contiguous = images.to(torch.float32, memory_format=torch.contiguous_format)
    return Split(contiguous.div_(255), labels.to(torch.int64))
