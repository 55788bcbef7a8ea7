"""Buffers that are used again: a large fresh tensor costs a page fault for every 4 kB of it, at every step."""

import math

import torch


class Workspace:
    """Named buffers of one dtype on one device; each grows to the largest size asked for and stays."""

    def __init__(self, like: torch.Tensor) -> None:
        self._like = like
        self._buffers: dict[str, torch.Tensor] = {}

    @property
    def num_values(self) -> int:
        """How many numbers all buffers hold together."""
        return sum(map(len, self._buffers.values()))

    def empty(self, name: str, *shape: int) -> torch.Tensor:
        """A contiguous tensor of ``shape`` with arbitrary content, valid until the next call with this name."""
        size = math.prod(shape)
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = self._like.new_empty(size)
        return buffer[:size].view(shape)
