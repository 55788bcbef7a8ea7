"""Clients: what they send back, what is stored for each, and how accurate each model is on its
data.
"""

import numpy as np


def members_of(labels: np.ndarray) -> dict[int, np.ndarray]:
    """Map each of the integer ``labels`` [N] of clients, in increasing order, to its increasing
    places, int64 [n_c].
    """
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))
