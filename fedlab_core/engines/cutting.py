"""Cutting work into chunks: by counted products, never by the number of threads or by time."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core.randomness import torch_generator

CALL_PRODUCTS = 1_000_000  # per call at least; with fewer, threads mostly wait for the interpreter
CHUNK_CLIENTS = 4


class Size(NamedTuple):
    """The approximate numbers of products and of calls in a forward pass of one sample."""

    products: int
    calls: int


def size_of(module: nn.Module, x: Tensor) -> Size:
    """The size of a forward pass for a sample like ``x`` [1, …]: each weight multiplies once per pixel or token."""
    found = list[Size]()

    def count(layer: nn.Module, _: Any, output: Any) -> None:
        weights = [value for value in layer.parameters(recurse=False) if value.ndim > 1]
        while isinstance(output, (tuple, list)) and output:
            output = output[0]
        if weights and isinstance(output, Tensor) and not isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
            width = layer.hidden_size if isinstance(layer, nn.RNNBase) else len(weights[0])
            places, weight = max(1, output.numel() // width), sum(value.numel() for value in weights)
            found.append(Size(places * weight, places if isinstance(layer, nn.RNNBase) else 1))

    hooks = [layer.register_forward_hook(count) for layer in module.modules()]
    with torch.no_grad(), torch_generator(x.device):
        module.eval()(x)
    for hook in hooks:
        hook.remove()
    return Size(sum(size.products for size in found), max(1, sum(size.calls for size in found)))


def pieces(amount: int, most: int) -> int:
    """The number of equal pieces of at most ``most`` for ``amount``: a power of two, for 2, 4 or 8 threads."""
    return 2 ** max(0, -(-amount // most) - 1).bit_length()


def useful_chunks(clients: int, products: int, calls: int) -> int:
    """The number of chunks of ``clients``, a power of two, each with enough of ``products`` in each of ``calls``."""
    most = min(products // (calls * CALL_PRODUCTS), max(clients // CHUNK_CLIENTS, min(clients, 2)))
    return 2 ** (max(1, most).bit_length() - 1)


def chunks(steps: np.ndarray, number: int) -> list[np.ndarray]:
    """Cut K clients with ``steps`` [K] into at most ``number`` chunks, arrays of places, of similar total steps.

    Clients with the most steps come first; no chunk is empty.
    """
    order = np.argsort(-steps, kind="stable")
    if number == 1:
        return [order]
    middles = np.cumsum(steps[order]) - steps[order] / 2
    owner = (middles * number // steps.sum()).astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(owner)) + 1)
