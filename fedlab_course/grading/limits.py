"""What a submission may use up."""

import math
from dataclasses import dataclass, replace

CELL, STARTING, TOTAL = 120.0, 600.0, 1800.0
GRACE = 5.0  # seconds that an interrupted cell has to end before its kernel is killed


@dataclass(frozen=True)
class Limits:
    """``cell``: seconds for one cell, and for all calls of one check; ``total``: seconds for the submission, without
    the start of its kernels (``starting``), which is not its own time; ``memory``: MB of all its processes together;
    ``processes``: how many at once; ``file``: MB of one file that it writes. ``user``: the number of the user that its
    kernels run as, None being who grades.
    """

    cell: float = CELL
    total: float = TOTAL
    starting: float = STARTING
    memory: int = 4096
    processes: int = 64
    file: int = 256
    user: int | None = None

    def with_timeout(self, timeout: float | None) -> "Limits":
        """The same with another limit for a cell, None being the default; the total is at least that."""
        if timeout is None:
            return self
        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout = {timeout!r}: must be a number of seconds > 0, or None")
        return replace(self, cell=timeout, total=max(self.total, timeout))
