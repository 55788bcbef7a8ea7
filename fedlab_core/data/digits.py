"""The embedded data set: 1797 handwritten digits of 8 × 8 pixels, from scikit-learn."""

import numpy as np

from fedlab_core.data.dataset import Dataset, Split


def read_digits() -> Dataset:
    """The digits, ``x`` float32 [n, 1, 8, 8] in [0, 1], ``y`` in 0 … 9, in 1442 training and 355 test samples.

    The split is fixed and stratified: of each class, in the order of the file, every fifth sample is a test sample.
    Source: E. Alpaydin and C. Kaynak, Optical recognition of handwritten digits, UCI machine learning repository
    (1998), the part that scikit-learn ships (grey values 0 … 16).
    """
    from sklearn.datasets import load_digits  # takes a second to import, so only when wanted

    images, labels = load_digits(return_X_y=True)
    x = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    test = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        test[np.flatnonzero(labels == digit)[4::5]] = True
    return Dataset("digits", Split(x[~test], labels[~test]), Split(x[test], labels[test]), 10, tuple("0123456789"))
