"""Distances between clients, a row of the table [N, N] at a time."""

import numpy as np
from scipy.spatial.distance import cdist, pdist

TABLE_BYTES = 2**29


class Distances:
    """Euclidean distances between ``points`` float64 [N, D], formed by differences: equal rows are exactly 0 apart.

    Half a table is kept, N²/2 numbers, where it takes at most ``TABLE_BYTES`` (11,585 clients); then each distance is
    formed once. For more clients rows are formed as they are asked for, and memory grows with N only. Both ways give
    the same bits.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points = points
        num = len(points)
        self._table = pdist(points) if 4 * num * (num - 1) <= TABLE_BYTES else None
        self._starts = np.arange(num) * (2 * num - np.arange(num) - 3) // 2 - 1  # where (i, j), i < j, is: start_i + j

    def __len__(self) -> int:
        return len(self.points)

    def row(self, i: int) -> np.ndarray:
        """From point ``i`` to each of them, float64 [N]; 0 to itself."""
        if self._table is None:
            return cdist(self.points[i : i + 1], self.points)[0]
        row = np.zeros(len(self))
        row[:i] = self._table[self._starts[:i] + i]
        row[i + 1 :] = self._table[self._starts[i] + i + 1 : self._starts[i] + len(self)]
        return row

    def to_kth_nearest(self, k: int) -> np.ndarray:
        """The distance from each point to its ``k``-th nearest other one, float64 [N]."""
        return np.array([np.partition(self.row(i), k)[k] for i in range(len(self))])  # place 0: the point itself
