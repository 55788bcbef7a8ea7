"""Which clients go together, from a label for each."""

import numpy as np


def members_of(labels: np.ndarray) -> dict[int, np.ndarray]:
    """The places of each of ``labels`` [N], an integer array, in increasing order of labels and of places: int64 [n_c].

    One sort, whatever the number of labels.
    """
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))
