"""The result of a partitioner."""

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


class Partition(list[np.ndarray]):
    """One int64 array of sample indices per client, ascending.

    ``recipe``: the law and its arguments, ready for JSON. ``left_out``: the samples that no client holds, int64 (empty
    but for :func:`by_user`). ``moved``: how many samples were taken from large clients to reach ``min_size``.
    """

    def __init__(
        self, parts: Iterable[np.ndarray], recipe: dict[str, Any], left_out: np.ndarray | None = None, moved: int = 0
    ) -> None:
        super().__init__(np.sort(np.asarray(part, dtype=np.int64)) for part in parts)
        self.recipe = {name: value.item() if isinstance(value, np.generic) else value for name, value in recipe.items()}
        self.left_out = np.array([], dtype=np.int64) if left_out is None else np.sort(left_out)
        self.moved = moved

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.recipe.items() if name != "law")
        return f"Partition({self.recipe['law']}: {arguments}; {sum(map(len, self))} samples)"


def reach_min_size(
    parts: Sequence[np.ndarray], min_size: int, rng: np.random.Generator
) -> tuple[list[np.ndarray], int]:
    """Give clients below ``min_size`` random samples of the client that is largest at the time; how many were moved."""
    hands = [rng.permutation(part).tolist() for part in parts]
    largest = [(-len(hand), k) for k, hand in enumerate(hands)]
    heapq.heapify(largest)
    moved = 0
    for hand in hands:
        while len(hand) < min_size:
            donor = hands[largest[0][1]]
            hand.append(donor.pop())
            heapq.heapreplace(largest, (-len(donor), largest[0][1]))
            moved += 1
    return [np.array(hand, dtype=np.int64) for hand in hands], moved
