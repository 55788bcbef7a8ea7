"""Compute with the parameters [K, P] of a cohort, a few columns at a time.

So temporary tensors stay in the cache of the processor.
"""

from collections.abc import Callable, Iterator

import torch

BLOCK_VALUES = 500_000  # of a temporary tensor [K, ·]
TILE_VALUES = 200_000  # of a temporary tensor [A, ·] for A of the K clients


def blocks(clients: int, like: torch.Tensor) -> Iterator[slice]:
    """Cut the P columns of ``like`` [P] into slices for a cohort of K = ``clients``; on a GPU, one
    slice.

    The last slice is the longest, because PyTorch sums a few columns in another order than many.
    """
    size = len(like)
    width = max(1024, BLOCK_VALUES // clients)
    number = max(1, size // width) if like.device.type == "cpu" else 1
    for i in range(number):
        yield slice(i * width, size if i == number - 1 else (i + 1) * width)


def joined(
    compute: Callable[[slice], torch.Tensor], clients: int, like: torch.Tensor
) -> torch.Tensor:
    """Compute a vector [P] from the results of ``compute`` for each slice of columns."""
    return torch.cat([compute(part) for part in blocks(clients, like)])


def tiles(clients: int, like: torch.Tensor) -> Iterator[tuple[slice, slice]]:
    """Cut a table [K, P] into tiles (clients, columns); on a GPU, one tile.

    Tiles have all columns of as many clients as fit into the cache, or a part of the columns of one
    client.
    """
    size = len(like)
    if like.device.type != "cpu":
        yield slice(0, clients), slice(0, size)
        return
    width = min(size, TILE_VALUES)
    at_once = max(1, TILE_VALUES // width)
    for first in range(0, size, width):
        for client in range(0, clients, at_once):
            yield (
                slice(client, min(client + at_once, clients)),
                slice(first, min(first + width, size)),
            )
