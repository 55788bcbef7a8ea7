"""What the tests of the partitioners share."""

from collections.abc import Sequence

import numpy as np

from fedlab_core.data.partition import Partition

BALANCED = np.tile(np.arange(10), 600)


def label_mix(y: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Share of each class at each client [N, C]."""
    classes = int(y.max()) + 1
    return np.stack([np.bincount(y[part], minlength=classes) / len(part) for part in parts])


def assert_exact_cover(parts: Partition, size: int, min_size: int = 1) -> None:
    assert all(part.dtype == np.int64 and (np.diff(part) > 0).all() for part in parts)
    assert min(len(part) for part in parts) >= min_size
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(size))
