"""Clients that are often away: how often they are drawn, and where Example 1 of [004] comes to rest
with them.

Such a client is drawn less often than K/N, and a mean over the drawn ones is biased towards the
others ([004] section 2.2). With the probabilities π_k of :func:`inclusion`, weights ∝ ρ_k/π_k
remove this bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_core.sampling import Bernoulli


def inclusion(probabilities: np.ndarray, clients_per_round: int) -> np.ndarray:
    """π_k of drawing K (or all, if fewer) of the available clients with equal chances, float64 [N].

    Client k is there with ``probabilities`` p_k [N], independently, as :class:`Bernoulli` has it.
    π_k = p_k · E min(1, K/(1 + B_k)), where B_k, how many others are there, is Poisson-binomial.
    Raises ``ValueError`` for probabilities outside [0, 1] and fewer than one client per round.
    """
    p = Bernoulli(probabilities).probabilities
    validation.integer("clients_per_round", clients_per_round, minimum=1)
    points = len(p) | 1  # an odd number: no root of unity is −1, where a factor can be zero
    drawn = np.minimum(1, clients_per_round / np.arange(1, points + 1))
    factors = 1 - p[:, None] + p[:, None] * np.exp(2j * np.pi * np.arange(points) / points)
    # row k: E z^B_k at all roots z, whose transform is the law of B_k
    others = factors.prod(axis=0) / factors
    return np.asarray(p * (others @ np.fft.fft(drawn)).real / points)


@dataclass(frozen=True)
class AbsentGroup:
    """Clients that minimise (x − e_k)², in groups of ``size`` clients whose means are ``means``.

    Clients of the last group are there with a probability ``presence``, all others always, and
    ``clients_per_round`` of those who are there are drawn with equal chances. Resting points are
    those of the mean over rounds. Raises ``ValueError`` if the groups that are always there do not
    fill a cohort.
    """

    size: int = 10
    means: Sequence[float] = (0.0, 1.0, 2.0, 7.0)
    clients_per_round: int = 4

    def __post_init__(self) -> None:
        if self.clients_per_round > self._always:
            raise ValueError(
                f"clients_per_round={self.clients_per_round}: only {self._always} clients are "
                "always there; draw fewer"
            )

    @property
    def optimum(self) -> float:
        """The mean of all means: the groups are of one size."""
        return float(np.mean(self.means))

    def fedavg(self, presence: float) -> float:
        """The plain mean of the cohort: Σ π_k e_k / K."""
        return self._with_weight(self.size * self._inclusion(presence)[-1] / self.clients_per_round)

    def one_of_each(self, presence: float) -> float:
        """One client of each group that is there: with probability (1 − p)^size the last group has
        none.
        """
        return self._with_weight((1 - (1 - presence) ** self.size) / len(self.means))

    def horvitz_thompson(self, presence: float) -> float:
        """Weights ρ_k/π_k: the optimum, unless the last group is
        never there and cannot be drawn.
        """
        return self.optimum if presence > 0 else self._with_weight(0)

    def hajek(self, presence: float) -> float:
        """The same weights divided by their sum over the cohort.

        Of b clients of the last group that are there, m come into the cohort with the
        hypergeometric law.
        """
        if presence == 0:
            return self._with_weight(0)
        from scipy import stats

        common, *_, rare = self._inclusion(presence)
        there = np.arange(self.size + 1)[:, None]
        drawn = np.arange(self.clients_per_round + 1)
        law = stats.binom.pmf(there, self.size, presence)
        chances = law * stats.hypergeom.pmf(
            drawn, self._always + there, there, self.clients_per_round
        )
        last = drawn / rare
        others = (self.clients_per_round - drawn) / common
        return self._with_weight(float((chances * last / (last + others)).sum()))

    @property
    def _always(self) -> int:
        return self.size * (len(self.means) - 1)

    def _inclusion(self, presence: float) -> np.ndarray:
        """π_k of every client; those of the last group are the last."""
        return inclusion(
            np.repeat([1.0, presence], [self._always, self.size]), self.clients_per_round
        )

    def _with_weight(self, weight: float) -> float:
        """The mean of all groups if the last one has this weight and the others share the rest
        evenly.
        """
        return (1 - weight) * float(np.mean(self.means[:-1])) + weight * self.means[-1]
