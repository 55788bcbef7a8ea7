"""Cutting work into chunks: by counted products, never by the number of threads or by time."""

from typing import NamedTuple

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
    """The size of a forward pass for a sample like ``x`` [1, …].

    Each weight multiplies once per pixel or token.
    """
    sizes = list[Size]()

    def count(layer: nn.Module, _: object, output: object) -> None:
        weights = [value for value in layer.parameters(recurse=False) if value.ndim > 1]
        while isinstance(output, (tuple, list)) and output:
            output = output[0]
        is_look_up = isinstance(layer, (nn.Embedding, nn.EmbeddingBag))
        if weights and isinstance(output, Tensor) and not is_look_up:
            is_recurrent = isinstance(layer, nn.RNNBase)
            width = layer.hidden_size if isinstance(layer, nn.RNNBase) else len(weights[0])
            places = max(1, output.numel() // width)
            weight = sum(value.numel() for value in weights)
            sizes.append(Size(places * weight, places if is_recurrent else 1))

    hooks = [layer.register_forward_hook(count) for layer in module.modules()]
    with torch.no_grad(), torch_generator(x.device):
        module.eval()(x)
    for hook in hooks:
        hook.remove()
    products = sum(size.products for size in sizes)
    calls = sum(size.calls for size in sizes)
    return Size(products, max(1, calls))


def pieces(amount: int, most: int) -> int:
    """The number of equal pieces of at most ``most``: a power of two, for 2, 4 or 8 threads."""
    return 2 ** max(0, -(-amount // most) - 1).bit_length()


def useful_chunks(clients: int, products: int, calls: int) -> int:
    """The number of chunks of ``clients``, a power of two.

    Each has enough of the ``products`` in each of the ``calls``, and enough clients.
    """
    by_products = products // (calls * CALL_PRODUCTS)
    by_clients = max(clients // CHUNK_CLIENTS, min(clients, 2))
    most = min(by_products, by_clients)
    return 2 ** (max(1, most).bit_length() - 1)


def chunks(steps: np.ndarray, number: int) -> list[np.ndarray]:
    """Cut K clients with ``steps`` [K] into at most ``number`` chunks, arrays of places, of similar
    total steps.

    Clients with the most steps come first; no chunk is empty.
    """
    order = np.argsort(-steps, kind="stable")
    if number == 1:
        return [order]
    middles = np.cumsum(steps[order]) - steps[order] / 2
    owner = (middles * number // steps.sum()).astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(owner)) + 1)
