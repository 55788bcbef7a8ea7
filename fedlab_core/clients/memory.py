"""Memory for large tensors, used again when nobody holds the old tensor any more.

The first write to a new page of 4 kB takes longer than writing 4 kB to memory that is in use
already.
"""

import math
import weakref
from typing import Self

import numpy as np
import torch

LARGE_BYTES = 4_000_000  # below, PyTorch's own allocation is as fast
ALIGNMENT = 64  # bytes


def empty(like: torch.Tensor, *shape: int) -> torch.Tensor:
    """Make a tensor of ``shape`` with arbitrary values, of the dtype and on the device of ``like``.

    For a large one on the CPU, NumPy asks Linux for pages of 2 MB: they save four fifths of the
    time of first writes.
    """
    num_bytes = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or num_bytes < LARGE_BYTES:
        return like.new_empty(shape)
    return torch.frombuffer(np.empty(num_bytes, dtype=np.uint8), dtype=like.dtype).view(shape)


class Slots:
    """Tensors like ``like`` [P]; one that nobody holds any more, nor a view of it, gives its memory
    to a new one.
    """

    def __init__(self, like: torch.Tensor) -> None:
        self._like = like
        self._free: list[np.ndarray] = []  # memory that no tensor uses

    def take(self, number: int) -> list[torch.Tensor]:
        """Make ``number`` tensors [P] with arbitrary values."""
        num_bytes = -(-self._like.nbytes // ALIGNMENT) * ALIGNMENT
        if self._like.device.type != "cpu" or number * num_bytes < LARGE_BYTES:
            return [torch.empty_like(self._like) for _ in range(number)]
        tensors: list[torch.Tensor] = []
        while len(tensors) < number:
            try:
                tensors.append(self._lend(self._free.pop()))
            except IndexError:
                missing = number - len(tensors)
                self._free.extend(torch.empty(missing, num_bytes, dtype=torch.uint8).numpy())
        return tensors

    def _lend(self, memory: np.ndarray) -> torch.Tensor:
        # an object of its own, which lives as long as a tensor uses it
        lent = memory[: self._like.nbytes]
        weakref.finalize(lent, self._free.append, memory).atexit = False
        return torch.frombuffer(lent, dtype=self._like.dtype)

    def __reduce__(self) -> tuple[type[Self], tuple[torch.Tensor]]:
        """A copy, or what another process unpickles, begins without memory."""
        return type(self), (self._like,)
