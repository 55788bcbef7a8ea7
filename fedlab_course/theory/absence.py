"""Where Example 1 of [004] comes to rest when a group of its clients is often away."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_course.theory.availability import inclusion, num_available


@dataclass(frozen=True)
class AbsentGroup:
    """Clients that minimise (x − e_k)², in groups of ``size`` clients whose means are ``means``.

    Clients of the last group are there with a probability, all others always, and ``clients_per_round`` of those who
    are there are drawn with equal chances. Resting points are those of the mean over rounds.

    Raises ``ValueError`` if the groups that are always there do not fill a cohort.
    """

    size: int = 10
    means: Sequence[float] = (0.0, 1.0, 2.0, 7.0)
    clients_per_round: int = 4

    def __post_init__(self) -> None:
        validation.integer("size", self.size, minimum=1)
        if self.clients_per_round > self._always:
            raise ValueError(
                f"clients_per_round={self.clients_per_round}: only {self._always} clients are always there; draw fewer"
            )

    @property
    def optimum(self) -> float:
        """The mean of all means: the groups are of one size."""
        return float(np.mean(self.means))

    def shift(self, presence: float) -> np.ndarray:
        """Δρ [groups]: by how much more than its share 1/4 (of four groups) each group counts under FedAvg."""
        pi = inclusion(self._presences(presence), self.clients_per_round)
        return np.asarray((pi / pi.sum()).reshape(-1, self.size).sum(axis=1) - 1 / len(self.means))

    def fedavg(self, presence: float) -> float:
        """The plain mean of the cohort: x* + Σ Δρ_k e_k."""
        return self.optimum + float(self.shift(presence) @ np.asarray(self.means))

    def one_of_each(self, presence: float) -> float:
        """One client of each group that is there: with probability (1 − p)^size the others are left to themselves."""
        lost = (1 - presence) ** self.size
        return (1 - lost) * self.optimum + lost * float(np.mean(self.means[:-1]))

    def horvitz_thompson(self, presence: float) -> float:
        """Weights ρ_k/π_k: the optimum, unless the last group is never there and cannot be drawn."""
        return self.optimum if presence > 0 else float(np.mean(self.means[:-1]))

    def hajek(self, presence: float) -> float:
        """The same weights divided by their sum over the cohort.

        Of b clients of the last group that are there, m come into the cohort with the hypergeometric law.
        """
        if presence == 0:
            return float(np.mean(self.means[:-1]))
        from scipy import stats

        pi = inclusion(self._presences(presence), self.clients_per_round)
        common, rare = 1 / pi[0], 1 / pi[-1]
        law, drawn = num_available(np.full(self.size, presence)), np.arange(self.clients_per_round + 1)
        chances = sum(
            law[b] * stats.hypergeom.pmf(drawn, self._always + b, b, self.clients_per_round)
            for b in range(self.size + 1)
        )
        share = drawn * rare / (drawn * rare + (self.clients_per_round - drawn) * common)
        weight = float(chances @ share)
        return (1 - weight) * float(np.mean(self.means[:-1])) + weight * self.means[-1]

    @property
    def _always(self) -> int:
        return self.size * (len(self.means) - 1)

    def _presences(self, presence: float) -> np.ndarray:
        return np.repeat([*[1.0] * (len(self.means) - 1), presence], self.size)
