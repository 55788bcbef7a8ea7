"""The embedded data set: 1797 handwritten digits of 8 × 8 pixels, from scikit-learn."""

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split

_TEST_EVERY = 5
_MAX_GREY = 16.0


def read_digits() -> Dataset:
    """The digits, ``x`` float32 [n, 1, 8, 8] in [0, 1], ``y`` in 0 … 9, in 1442 training and 355 test samples.

    The split is fixed and stratified: of each class, in the order of the file, every fifth sample is a test sample.
    Source: E. Alpaydin and C. Kaynak, Optical recognition of handwritten digits, UCI machine learning repository
    (1998), the part that scikit-learn ships (grey values 0 … 16).
    """
    from sklearn.datasets import load_digits  # takes a second to import, so only when wanted

    images, labels = load_digits(return_X_y=True)
    x = torch.from_numpy((images / _MAX_GREY).astype(np.float32).reshape(-1, 1, 8, 8))
    y = torch.from_numpy(labels.astype(np.int64))
    test = _every_nth_of_each_class(labels, _TEST_EVERY)
    return Dataset(
        name="digits",
        train=Split(x[~test], y[~test]),
        test=Split(x[test], y[test]),
        num_classes=10,
        classes=tuple(str(digit) for digit in range(10)),
    )


def _every_nth_of_each_class(labels: np.ndarray, n: int) -> torch.Tensor:
    """A mask [len(labels)], True for the n-th, 2n-th, … sample of each class."""
    chosen = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        chosen[np.flatnonzero(labels == label)[n - 1 :: n]] = True
    return torch.from_numpy(chosen)
