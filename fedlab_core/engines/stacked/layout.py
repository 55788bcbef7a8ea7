"""Where the parameters of several clients lie in memory."""

from collections.abc import Sequence

import torch


class Layout:
    """The parameters [A, P] of A clients in a buffer: tensor after tensor, in each of them client after client."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._places, start = [], 0
        for size in sizes:
            self._places.append((start, start + size))
            start += size
        self.size = start

    def pack(self, rows: torch.Tensor) -> torch.Tensor:
        """``rows`` [A, P] as a buffer [A·P]."""
        buffer = rows.new_empty(rows.numel())
        for start, stop in self._places:
            buffer[len(rows) * start : len(rows) * stop].view(len(rows), -1).copy_(rows[:, start:stop])
        return buffer

    def unpack(self, buffer: torch.Tensor, size: int, clients: slice) -> torch.Tensor:
        """The rows [·, P] of the given ``clients`` out of a buffer of ``size`` clients."""
        return torch.cat([buffer[size * a : size * b].view(size, -1)[clients] for a, b in self._places], dim=1)
