"""The result of a partitioner, and what partitioners share."""

import heapq
from collections.abc import Iterable, Sequence

import numpy as np

from fedlab_core import validation
from fedlab_core.aliases import Column, Config


class Partition(list[np.ndarray]):
    """One int64 array of sample indices per client, ascending.

    ``recipe``: the law and its arguments, ready for JSON. ``received``: number of shared samples
    sent to clients, summed over clients (:func:`shared`).
    """

    def __init__(self, parts: Iterable[np.ndarray], recipe: Config, received: int = 0) -> None:
        super().__init__(np.sort(np.asarray(part, dtype=np.int64)) for part in parts)
        self.recipe = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in recipe.items()
        }
        self.received = received

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.recipe.items() if name != "law"]
        arguments = ", ".join(given)
        return f"Partition({self.recipe['law']}: {arguments}; {sum(map(len, self))} samples)"


def join_parts(
    name: str, parts: Sequence[Column], size: int
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return ``parts`` as int64 arrays, their lengths int64 [N], and all their indices in a row.

    Raises ``ValueError`` for no parts, an empty part, and anything but indices in 0 … size − 1.
    """
    arrays = [validation.indices(f"{name}[{k}]", part) for k, part in enumerate(parts)]
    if not arrays:
        raise ValueError(f"{name}=[]: must hold at least one client")
    lengths = np.fromiter(map(len, arrays), dtype=np.int64, count=len(arrays))
    if not lengths.all():
        raise ValueError(
            f"{name}[{lengths.argmin()}]: this client is empty; give every client at least one "
            "sample"
        )
    joined = np.concatenate(arrays)
    if joined.min() < 0 or joined.max() >= size:
        for k, array in enumerate(arrays):
            validation.indices(f"{name}[{k}]", array, size)
    return arrays, lengths, joined


def deal_by_label(
    rng: np.random.Generator, labels: np.ndarray, owners: Iterable[np.ndarray], num_clients: int
) -> list[np.ndarray]:
    """Deal the samples of each label, in random order.

    ``owners``: per label, the client of each of its samples.
    """
    of_label = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    samples = np.concatenate([rng.permutation(indices) for indices in of_label])
    owner = np.concatenate(list(owners))
    ends = np.cumsum(np.bincount(owner, minlength=num_clients))
    return np.split(samples[np.argsort(owner, kind="stable")], ends[:-1])


def reach_min_size(
    parts: Sequence[np.ndarray], min_size: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Give clients below ``min_size`` random samples of the largest client of that moment."""
    if min(map(len, parts)) >= min_size:
        return list(parts)
    hands = [rng.permutation(part).tolist() for part in parts]
    largest = [(-len(hand), k) for k, hand in enumerate(hands)]
    heapq.heapify(largest)
    for hand in hands:
        while len(hand) < min_size:
            size, k = largest[0]
            heapq.heapreplace(largest, (size + 1, k))
            hand.append(hands[k].pop())
    return [np.array(hand, dtype=np.int64) for hand in hands]
