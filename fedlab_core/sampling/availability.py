"""Which clients are available, round by round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from fedlab_core.aliases import Config


class Availability(ABC):
    """A law of the clients that are available in a round."""

    @abstractmethod
    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the clients that are available in ``round`` (1, 2, …), bool [N]; possibly none."""

    def describe(self) -> Config:
        """Name and parameters, for the configuration of a run."""
        return {"name": type(self).__name__, **vars(self)}


@dataclass(frozen=True, eq=False)
class Bernoulli(Availability):
    """Client k is available with probability p_k, independently of other clients and other rounds.

    ``probabilities`` float64 [N], each in [0, 1].
    """

    probabilities: np.ndarray

    def __post_init__(self) -> None:
        p = np.asarray(self.probabilities, dtype=np.float64)
        if p.ndim != 1 or len(p) == 0 or not ((p >= 0) & (p <= 1)).all():
            raise ValueError("probabilities: must be [N], one per client, each from 0 to 1")
        object.__setattr__(self, "probabilities", p)

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        return rng.random(len(self.probabilities)) < self.probabilities
