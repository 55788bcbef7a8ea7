"""How many threads PyTorch should use for steps of a given size."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL_STEP = 10_000_000


@contextmanager
def suited_to(products: int) -> Iterator[None]:
    """One thread inside the block if a step has fewer than ``SMALL_STEP`` ``products`` (multiplications of a layer).

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
