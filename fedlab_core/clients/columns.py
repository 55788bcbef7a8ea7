"""Compute with the parameters [K, P] of a cohort, a few columns at a time.

So temporary tensors stay in the cache of the processor.
"""

from collections.abc import Callable, Iterator

import torch

BLOCK_VALUES = 500_000  # of a temporary tensor [K, ·]


def blocks(clients: int, like: torch.Tensor) -> Iterator[slice]:
    """Cut the P columns of ``like`` [P] into slices for a cohort of K = ``clients``; on a GPU, one slice.

    The last slice is the longest, because PyTorch sums a few columns in another order than many.
    """
    size = len(like)
    width = max(1024, BLOCK_VALUES // clients)
    number = max(1, size // width) if like.device.type == "cpu" else 1
    for i in range(number):
        yield slice(i * width, size if i == number - 1 else (i + 1) * width)


def joined(compute: Callable[[slice], torch.Tensor], clients: int, like: torch.Tensor) -> torch.Tensor:
    """Compute a vector [P] from the results of ``compute`` for each slice of columns."""
    return torch.cat([compute(part) for part in blocks(clients, like)])
