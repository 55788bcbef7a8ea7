"""How many threads PyTorch should use for steps of a given size."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

SMALL_STEP = 10_000_000


def products_per_step(sizes: np.ndarray, clients: int, batch_size: int | None, model: nn.Module) -> int:
    """About how many multiplications a forward pass of a cohort takes: one per client, sample and weight.

    ``sizes`` n_k [N] of the federation, of which ``clients`` K train at once; ``batch_size`` None is full batch. It is
    exact for fully connected layers without bias; convolutions use a weight many times, embeddings multiply nothing.
    """
    layers = (layer for layer in model.modules() if not isinstance(layer, (nn.Embedding, nn.EmbeddingBag)))
    weights = {weight for layer in layers for weight in layer.parameters(recurse=False)}
    largest = int(sizes.max())
    return clients * min(largest, batch_size or largest) * sum(weight.numel() for weight in weights)


@contextmanager
def suited_to(products: int) -> Iterator[None]:
    """One thread inside the block if a step has fewer than ``SMALL_STEP`` ``products`` (see ``products_per_step``).

    A small step gains little from a second thread, and loses a hundredfold when another program wants that core: at
    the end of each of its many tiny operations, every thread waits for the slowest. The number is restored afterwards.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(before if products >= SMALL_STEP else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
