"""What a submission may use."""

import math
from dataclasses import dataclass, replace

GRACE = 5.0  # seconds between the interruption of a cell and the end of its process


@dataclass(frozen=True)
class Limits:
    """Limits of one submission.

    ``cell``: seconds for one cell, or for all calls of one check. ``total``: seconds for the whole submission, with
    every restart and with its judge. ``memory``: MB of all its processes together, with its judge. ``processes``: how
    many at once. ``file``: MB of one file that it writes. ``user``: the number of the user that runs its code, or None
    for the user who grades.
    """

    cell: float = 120.0
    total: float = 1800.0
    memory: int = 4096
    processes: int = 64
    file: int = 256
    user: int | None = None

    def with_timeout(self, timeout: float | None) -> "Limits":
        """Return the same limits with another ``cell``, unless ``timeout`` is None. ``total`` is at least as large."""
        if timeout is None:
            return self
        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout={timeout!r}: must be a positive number of seconds, or None for the default")
        return replace(self, cell=timeout, total=max(self.total, timeout))
