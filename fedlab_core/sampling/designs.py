"""Sampling designs: laws of cohorts, with every client's probability of being in the cohort.

A design is for one round. ``available`` is a bool mask [N] of the clients that are available, None
for all of them; the ``probabilities`` are conditional on it. :meth:`Design.draw` takes a generator;
designs have no random state.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.clients import members_of
from fedlab_core.one_page import draw_cohort


class Design(ABC):
    """A law of cohorts: by default K = ``clients_per_round`` of n ``available`` clients.

    If n < K, all n are drawn.
    """

    available: np.ndarray  # bool [N]
    clients_per_round: int

    @property
    def probabilities(self) -> np.ndarray:
        """First-order inclusion probabilities π_k, float64 [N].

        They are min(1, K/n), or 0 for a client that is not there.
        """
        num_available = max(1, int(self.available.sum()))
        return self.available * min(1.0, self.clients_per_round / num_available)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw one cohort: distinct clients, int64, in increasing order."""


@dataclass(frozen=True, eq=False)
class Uniform(Design):
    """Draw K of the available clients, every subset equally likely."""

    available: np.ndarray
    clients_per_round: int

    def __post_init__(self) -> None:
        _mask(self.available, len(self.available))
        validation.integer("clients_per_round", self.clients_per_round, minimum=1)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return draw_cohort(np.flatnonzero(self.available), self.clients_per_round, rng)


@dataclass(frozen=True, eq=False)
class Systematic(Design):
    """Put the n available clients in a row, cluster by cluster; from a random start draw every
    (n/K)-th of them.

    ``labels`` int64 [N]: cluster of each client, −1 for a stratum of one. The order within a
    cluster is random, and so is that of the strata of one, at the end of the row. Every client has
    probability K/n exactly, the cohort has K clients exactly, and a cluster with n_c available
    clients (the strata of one count as a cluster) gets the floor or the ceiling of n_c·K/n. It
    replaces β·n_c clients per cluster of [004], less than one for small clusters.
    """

    labels: np.ndarray
    clients_per_round: int
    available: Any = None  # bool [N]; None is all, and becomes an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "available", _mask(self.available, len(_checked(self.labels))))
        validation.integer("clients_per_round", self.clients_per_round, minimum=1)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        present = np.flatnonzero(self.available)
        num = len(present)
        size = min(self.clients_per_round, len(present))
        if num == 0:
            return present
        row = rng.permutation(present)
        noise_last = np.where(self.labels < 0, self.labels.max() + 1, self.labels)
        row = row[np.argsort(noise_last[row], kind="stable")]
        # in units of 1/K of a place: client i of the row fills [iK, (i + 1)K)
        start = rng.integers(num)
        return np.sort(row[(start + num * np.arange(size)) // size])


@dataclass(frozen=True, eq=False)
class AtLeastOne(Design):
    """Draw max(1, β·n_c rounded half up) of the n_c available clients of every cluster, uniformly
    within it.

    ``labels`` int64 [N], −1 for a stratum of one, which is always drawn; ``fraction`` β in (0, 1].
    Closest to the text of [004] algorithm 1. Clients of small clusters are drawn more often (π_k =
    s_c/n_c); the weights correct that.
    """

    labels: np.ndarray
    fraction: float
    available: Any = None  # bool [N]; None is all, and becomes an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "available", _mask(self.available, len(_checked(self.labels))))
        validation.real("fraction", self.fraction, maximum=1, exclusive=True)

    @property
    def probabilities(self) -> np.ndarray:
        probabilities = np.zeros(len(self.labels))
        for stratum, count in self._strata():
            probabilities[stratum] = count / len(stratum)
        return probabilities

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        drawn = [rng.choice(stratum, count, replace=False) for stratum, count in self._strata()]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *drawn]))

    def _strata(self) -> list[tuple[np.ndarray, int]]:
        clusters = members_of(self.labels)
        alone = clusters.pop(-1, np.empty(0, dtype=np.int64))
        strata = []
        for members in (*clusters.values(), *alone[:, None]):
            present = members[self.available[members]]
            if len(present):
                strata.append((present, max(1, int(self.fraction * len(present) + 0.5))))
        return strata


def weights(shares: np.ndarray, probabilities: np.ndarray, *, literal: bool = False) -> np.ndarray:
    """Compute aggregation weights ω_k ∝ ρ_k/π_k of the clients of a cohort, float64 [K], with sum
    1.

    ``shares`` ρ_k = n_k/Σn and ``probabilities`` π_k, both [K]. For equal shares and π = K/N this
    is [004] algorithm 1. ``literal``: ρ_k/π_k without normalisation, the weights of Horvitz and
    Thompson: exactly unbiased, but for unequal shares their sum is 1 only on average.

    Raises ``ValueError`` for a client with π_k outside (0, 1].
    """
    pi = np.asarray(probabilities, dtype=np.float64)
    if not ((pi > 0) & (pi <= 1)).all():
        raise ValueError(
            f"probabilities={pi.min():g} … {pi.max():g}: must be in (0, 1] for every drawn client"
        )
    ratios = np.asarray(shares, dtype=np.float64) / pi
    return ratios if literal else ratios / ratios.sum()


def _mask(available: np.ndarray | None, num_clients: int) -> np.ndarray:
    mask = np.ones(num_clients, dtype=bool) if available is None else available
    if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (num_clients,):
        raise ValueError("available: must be a bool array [N] with one entry per client")
    return mask


def _checked(labels: np.ndarray) -> np.ndarray:
    is_column = isinstance(labels, np.ndarray) and labels.dtype.kind == "i" and labels.ndim == 1
    if not is_column or labels.min(initial=0) < -1:
        raise ValueError(
            "labels: must be an integer array [N] with one entry per client, −1 (noise) or a "
            "cluster"
        )
    return labels
