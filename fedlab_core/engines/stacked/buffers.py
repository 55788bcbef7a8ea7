"""Memory: the layout of the parameters of several clients, and reused buffers."""

import math
from collections.abc import Sequence

from torch import Tensor


class Layout:
    """The parameters [A, P] of A clients in a buffer: tensor after tensor, each client after
    client.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = list(sizes)
        self.size = sum(sizes)

    def pack(self, rows: Tensor, buffer: Tensor | None = None) -> Tensor:
        """Write ``rows`` [A, P] to a ``buffer`` [A·P], by default a new one; return the buffer."""
        if buffer is None:
            buffer = rows.new_empty(rows.numel())
        for tensor, values in zip(
            self._tensors(buffer, len(rows)), rows.split(self._sizes, dim=1), strict=True
        ):
            tensor.copy_(values)
        return buffer

    def unpack(self, buffer: Tensor, size: int, clients: slice, rows: Tensor) -> Tensor:
        """Write the parameters of ``clients`` in a buffer of ``size`` clients to ``rows`` [·, P];
        return the rows.
        """
        for tensor, values in zip(
            self._tensors(buffer, size), rows.split(self._sizes, dim=1), strict=True
        ):
            values.copy_(tensor[clients])
        return rows

    def _tensors(self, buffer: Tensor, size: int) -> list[Tensor]:
        return [
            tensor.view(size, -1) for tensor in buffer.split([size * own for own in self._sizes])
        ]


class Workspace:
    """Named buffers of one dtype and device that only grow; a new large tensor costs a page fault
    per 4 kB.
    """

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._buffers: dict[str, Tensor] = {}

    @property
    def num_values(self) -> int:
        """The numbers in all buffers."""
        return sum(map(len, self._buffers.values()))

    def empty(self, name: str, *shape: int) -> Tensor:
        """A contiguous tensor of ``shape`` with arbitrary values, valid until the next call with
        this name.
        """
        size = math.prod(shape)
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = self._like.new_empty(size)
        return buffer[:size].view(shape)
