"""How many threads PyTorch should use for steps of a given size."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

SMALL_STEP = 10_000_000


def products_per_step(sizes: np.ndarray, clients: int, batch_size: int | None, num_parameters: int) -> int:
    """About how many multiplications a forward pass of a cohort takes: one per client, sample and parameter.

    ``sizes`` n_k [N] of the federation, of which ``clients`` K train at once; ``batch_size`` None is full batch. It is
    exact for fully connected layers without bias and too small for convolutions, which use a weight many times.
    """
    largest = int(sizes.max())
    return clients * min(largest, batch_size or largest) * num_parameters


@contextmanager
def suited_to(products: int) -> Iterator[None]:
    """One thread inside the block if a step has fewer than ``SMALL_STEP`` ``products`` (see ``products_per_step``).

    A small step gains little from a second thread, and loses a hundredfold when another program wants that core: at
    the end of each of its many tiny operations, every thread waits for the slowest. The number is restored afterwards.
    """
    before = torch.get_num_threads()
    if products >= SMALL_STEP or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
