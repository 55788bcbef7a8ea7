"""Who is there, round by round, and the inclusion probabilities that follow.

A client that is often absent is drawn less often than K/N, and a mean over the drawn ones is biased towards the others
([004] section 2.2). With the probabilities π_k below, weights ∝ ρ_k/π_k undo that.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedlab_core import validation


class Availability(ABC):
    """A law over the clients that are there in a round."""

    @abstractmethod
    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Who is there in ``round`` (1, 2, …), bool [N]; none may be."""

    def describe(self) -> dict[str, Any]:
        """Name and parameters, for the configuration of a run."""
        return {"name": type(self).__name__, **vars(self)}

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
