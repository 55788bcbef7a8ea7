"""Who is there, round by round, and the inclusion probabilities that follow.

A client that is often absent is drawn less often than K/N, and a mean over the drawn ones is biased towards the others
([004] section 2.2). With the probabilities π_k below, weights ∝ ρ_k/π_k undo that.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_core.sampling.designs import Uniform


class Availability(ABC):
    """A law over the clients that are there in a round."""

    @abstractmethod
    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Who is there in ``round`` (1, 2, …), bool [N]; none may be."""

    @abstractmethod
    def inclusion(self, clients_per_round: int) -> np.ndarray:
        """π_k of drawing K (or all, if fewer) of the available clients with equal chances, float64 [N].

        Holds for :class:`~fedlab_core.sampling.Uniform` and for :class:`~fedlab_core.sampling.Systematic`.
        """


@dataclass(frozen=True, eq=False)
class Bernoulli(Availability):
    """Client k is there with probability p_k, independently of the others and of other rounds.

    ``probabilities`` float64 [N], each in [0, 1].
    """

    probabilities: np.ndarray

    def __post_init__(self) -> None:
        p = np.asarray(self.probabilities, dtype=np.float64)
        if p.ndim != 1 or len(p) == 0 or not ((p >= 0) & (p <= 1)).all():
            raise ValueError("probabilities: must be [N], one per client, each from 0 to 1")
        object.__setattr__(self, "probabilities", p)

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Who is there, bool [N]; the same law in every ``round``."""
        return rng.random(len(self.probabilities)) < self.probabilities

    def inclusion(self, clients_per_round: int) -> np.ndarray:
        """π_k = p_k · E min(1, K/(1 + B_k)), where B_k, the number of others that are there, is Poisson-binomial."""
        validation.integer("clients_per_round", clients_per_round, minimum=1)
        drawn = np.minimum(1, clients_per_round / np.arange(1, len(self.probabilities) + 1))
        return self.probabilities * (others_available(self.probabilities) @ drawn)


@dataclass(frozen=True, eq=False)
class Trace(Availability):
    """A given record of who is there: ``table`` bool [rounds, N], its first row for round 1, repeated after its end."""

    table: np.ndarray

    def __post_init__(self) -> None:
        table = np.asarray(self.table)
        if table.dtype != bool or table.ndim != 2 or 0 in table.shape:
            raise ValueError(f"table: must be a bool array [rounds, N], got {table.dtype} {list(table.shape)}")
        object.__setattr__(self, "table", table)

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Who is there in ``round``, bool [N]; nothing is drawn from ``rng``."""
        return self.table[(validation.integer("round", round, minimum=1) - 1) % len(self.table)]

    def inclusion(self, clients_per_round: int) -> np.ndarray:
        """π_k = mean over the rounds of the trace of the probabilities in each of them."""
        return np.mean([Uniform(row, clients_per_round).probabilities for row in self.table], axis=0)


def num_available(probabilities: np.ndarray) -> np.ndarray:
    """P(B = b), b = 0 … N, float64 [N + 1], of the sum B of independent coins with ``probabilities`` [N]."""
    law = np.zeros(len(probabilities) + 1)
    law[0] = 1
    for p in probabilities:
        law[1:] = (1 - p) * law[1:] + p * law[:-1]
        law[0] *= 1 - p
    return law


def others_available(probabilities: np.ndarray) -> np.ndarray:
    """P(B_k = b), b = 0 … N − 1, for all coins but the k-th, float64 [N, N], in O(N²) operations.

    Coin k is taken out of f, the law of the sum of all: f(b) = (1 − p) f_k(b) + p f_k(b − 1). Solved from b = 0 up
    where p ≤ ½ and from b = N down where p > ½, an error never grows from one step to the next. Column N stays zero.
    """
    p, law = probabilities, num_available(probabilities)
    num = len(p)
    others = np.zeros((num, num + 1))
    low = p <= 0.5
    high = ~low
    for b in range(num):
        others[low, b] = (law[b] - p[low] * others[low, b - 1]) / (1 - p[low])
    for b in range(num - 1, -1, -1):
        others[high, b] = (law[b + 1] - (1 - p[high]) * others[high, b + 1]) / p[high]
    return np.clip(others[:, :num], 0, 1)
