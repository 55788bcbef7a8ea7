"""Compute with the parameters [K, P] of a cohort, a few columns at a time.

So temporary tensors stay in the cache of the processor.
"""

from collections.abc import Iterator

import torch

TILE_VALUES = 200_000  # of a temporary tensor [A, ·] for A of the K clients


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
