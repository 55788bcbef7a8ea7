"""Euclidean distances between all clients: estimated once by matrix products, and exact where a
decision needs it.

A matrix product computes ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y much faster than subtractions do, but it
cancels: near points lose digits, and identical points may seem apart. So a table [N, N] holds
estimates, and their error has a bound. The estimates only say which pairs cannot be within a
radius. Every distance that counts is computed by subtraction.

The bound. With rows centred and scaled to norms ≤ 1, a dot product of D terms is off by at most D·u
(u: float64's rounding unit), so a squared distance is off by at most 4·(D + a few)·u. float32, in
which the table is stored, rounds it by a relative 2⁻²⁴.
"""

import numpy as np
from threadpoolctl import threadpool_limits

# of the estimates: 16,384 clients; with more, rows are computed when they are needed
TABLE_BYTES = 2**30
BLOCK = 1024  # points in one matrix product, and in one call for exact distances
# norms whose squares float64 can hold without loss
SMALLEST = 1e-100
LARGEST = 1e100
RELATIVE_SLACK = 2.0**-22  # four times the rounding of float32


class Distances:
    """The distances between N ``points`` [N, D] in float64."""

    def __init__(self, points: np.ndarray) -> None:
        self._points = points
        self._mean = points.mean(axis=0)
        # twice the bound
        self._absolute_slack = 4 * (points.shape[1] + 16) * np.finfo(np.float64).eps
        self._scale = 1.0
        self._table: np.ndarray | None = None
        largest = self._largest_norm()
        if SMALLEST < largest < LARGEST and 4 * len(points) ** 2 <= TABLE_BYTES:
            # a power of two rounds nothing
            self._scale = float(np.ldexp(1.0, -int(np.frexp(largest)[1])))
            self._table = self._estimate_all()

    def __len__(self) -> int:
        return len(self._points)

    def exact(self, point: int, others: np.ndarray) -> np.ndarray:
        """The distances from ``point`` to the points ``others``
        [n], by subtraction, float64 [n].
        """
        from scipy.spatial.distance import cdist

        distances = np.empty(len(others))
        here = self._points[point : point + 1]
        for start in range(0, len(others), BLOCK):
            stop = start + BLOCK
            distances[start:stop] = cdist(here, self._points[others[start:stop]])[0]
        return distances

    def estimates(self, point: int) -> np.ndarray:
        """Estimates of the squared distances from ``point`` to all points, float32 [N]; compare
        them with a limit.
        """
        if self._table is not None:
            return self._table[point]
        row = self.exact(point, np.arange(len(self)))
        with np.errstate(over="ignore", under="ignore"):
            return np.square(row * self._scale).astype(np.float32)

    def limits(self, radii: np.ndarray | float) -> np.ndarray:
        """The largest estimate that a pair within a radius can have, float32, for each of the
        ``radii``.
        """
        with np.errstate(over="ignore", under="ignore"):
            squared = np.square(np.asarray(radii) * self._scale)
            return ((squared + self._absolute_slack) * (1 + RELATIVE_SLACK)).astype(np.float32)

    def _largest_norm(self) -> float:
        """The largest norm of a centred point."""
        blocks = range(0, len(self._points), BLOCK)
        with np.errstate(over="ignore"):
            return max(
                float(np.linalg.norm(self._centred(start), axis=1).max()) for start in blocks
            )

    def _centred(self, start: int) -> np.ndarray:
        return self._points[start : start + BLOCK] - self._mean

    def _estimate_all(self) -> np.ndarray:
        """Compute the table block by block; each pair of blocks has one matrix product."""
        num = len(self._points)
        table = np.empty((num, num), dtype=np.float32)
        with threadpool_limits(1):  # threads of BLAS would wait for those of the clients' training
            for start in range(0, num, BLOCK):
                rows = self._centred(start) * self._scale
                for other in range(0, start + 1, BLOCK):
                    block = _squared_distances(rows, self._centred(other) * self._scale)
                    table[start : start + BLOCK, other : other + BLOCK] = block
                    table[other : other + BLOCK, start : start + BLOCK] = block.T
        return table


def _squared_distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """‖x‖² + ‖y‖² − 2 x·y, at least 0, for each of ``rows`` x [m, D] and ``columns`` y [n, D],
    float32 [m, n].
    """
    squared = rows @ columns.T
    squared *= -2
    squared += np.einsum("md,md->m", rows, rows)[:, None]
    squared += np.einsum("nd,nd->n", columns, columns)
    return np.maximum(squared, 0, out=squared).astype(np.float32)
