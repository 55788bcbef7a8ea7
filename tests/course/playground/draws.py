"""The random streams of the playground's page, in Python: what ``scripts/random.js`` draws, in the
calls of NumPy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

MASK = 2**32 - 1


class Draws:
    """A stream with the methods of ``numpy.random.Generator`` that a round uses."""

    def __init__(self, seed: int, name: str, *, round: int = 0, client: int = 0) -> None:
        self.state = _hash(f"{seed}/{name}/{round}/{client}")
        for _ in range(12):
            self._uint32()

    def _uint32(self) -> int:
        a, b, c, d = self.state
        total = (a + b + d) & MASK
        turned = (c << 21 | c >> 11) & MASK
        self.state = [b ^ b >> 9, (c + (c << 3)) & MASK, (turned + total) & MASK, (d + 1) & MASK]
        return total

    def random(self) -> float:
        return self._uint32() / 2**32

    def integers(self, low: int, high: int | None = None, endpoint: bool = False) -> int:
        low, high = (0, low) if high is None else (low, high + endpoint)
        return low + int(self.random() * (high - low))

    def permutation(self, values: Any) -> np.ndarray:
        found = np.arange(values) if isinstance(values, int) else np.array(values)
        for i in range(len(found) - 1, 0, -1):
            j = self.integers(i + 1)
            found[[i, j]] = found[[j, i]]
        return found

    def permuted(self, orders: np.ndarray, axis: int) -> np.ndarray:
        assert axis == 1
        return np.stack([self.permutation(order) for order in orders])

    def choice(self, values: Sequence[int], size: int | None = None, replace: bool = True) -> Any:
        assert size is None or not replace
        return self.permutation(values)[0 if size is None else slice(size)]


def client_draws(seed: int, name: str, *, round: int, clients: Iterable[int]) -> Iterator[Draws]:
    return (Draws(seed, name, round=round, client=client) for client in clients)


def _hash(text: str) -> list[int]:
    factors = (597399067, 2869860233, 951274213, 2716044179)
    h = [1779033703, 3144134277, 1013904242, 2773480762]
    for letter in text:
        for j in range(4):
            h[j] = h[(j + 1) % 4] ^ ((h[j] ^ ord(letter)) * factors[j]) & MASK
    return h
