"""Load data sets by name."""

import os
import shlex

import numpy as np

from fedlab_core.data.dataset import Dataset, DatasetNotFound, Split
from fedlab_core.data.disk.files import DatasetCorrupt, locate, search_roots
from fedlab_core.data.disk.readers import read_cifar10, read_idx_dataset
from fedlab_core.data.disk.sources import DATASETS, SOURCES
from fedlab_core.data.disk.text import read_sentiment140
from fedlab_core.data.synthetic import synthetic
from fedlab_core.validation import choice

_READERS = {
    "mnist": read_idx_dataset,
    "fashion-mnist": read_idx_dataset,
    "cifar10": read_cifar10,
    "sentiment140": read_sentiment140,
}


def load_dataset(name: str, root: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the data set ``name``: digits, mnist, fashion-mnist, cifar10, sentiment140 or synthetic.

    ``root``: the data folder; by default ``$FEDLAB_DATA``, then the user cache folder. It is only
    read. ``digits`` and ``synthetic`` need no files.

    Raises ``ValueError`` for an unknown name; ``DatasetNotFound`` if the set is not on disk
    (nothing is downloaded); ``DatasetCorrupt`` if a file is damaged; ``ImportError`` if the set is
    read by torchvision (MNIST, Fashion-MNIST, CIFAR-10 in the layout of torchvision) and
    torchvision is not installed.
    """
    choice("name", name, DATASETS)
    if name == "digits":
        return read_digits()
    if name == "synthetic":
        return synthetic()
    source = SOURCES[name]
    roots = search_roots(root)
    location = locate(source, roots)
    arguments = name if root is None else f"{name} --root {shlex.quote(os.fspath(root))}"
    fetch = f"`python -m fedlab_core data fetch {arguments}`"
    if location.missing:
        where = f"it is not in {' nor in '.join(map(str, roots))}"
        if location.files:
            where = f"{location.folder} lacks {', '.join(location.missing)}"
        raise DatasetNotFound(f"{name} is not on disk: {where}. Fetch it with {fetch}.")
    try:
        return _READERS[name](name, location)
    except DatasetCorrupt as error:
        verify = f"`python -m fedlab_core data verify {arguments}`"
        raise DatasetCorrupt(
            f"{error}. Check the set with {verify}; {fetch} replaces it."
        ) from error


def read_digits() -> Dataset:
    """Read 1797 handwritten digits of 8 × 8 pixels: ``x`` float32 [n, 1, 8, 8] in [0, 1], ``y`` in
    0 … 9.

    The split is fixed and stratified: every fifth sample of each class, in the order of the file,
    is a test sample. Source: E. Alpaydin and C. Kaynak, Optical recognition of handwritten digits,
    UCI machine learning repository (1998), the part in scikit-learn (grey values 0 … 16).
    """
    from sklearn.datasets import load_digits  # imported here because it takes a second

    images, labels = load_digits(return_X_y=True)
    x = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    test = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        test[np.flatnonzero(labels == digit)[4::5]] = True
    return Dataset(
        "digits",
        Split(x[~test], labels[~test]),
        Split(x[test], labels[test]),
        10,
        tuple("0123456789"),
    )
