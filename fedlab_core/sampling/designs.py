"""Sampling designs: a cohort, and every client's probability of being in it.

A design is made for one round, from the clients that are there in that round: ``available`` is a bool mask [N], None
for everybody. Its ``probabilities`` are those given this mask. Designs hold no random state: :meth:`Design.draw` takes
a generator.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_core.clients.groups import members_of
from fedlab_core.one_page import draw_cohort


class Design(ABC):
    """A law over cohorts."""

    @property
    @abstractmethod
    def probabilities(self) -> np.ndarray:
        """First-order inclusion probabilities π_k, float64 [N]; 0 for a client that cannot be drawn."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One cohort: distinct clients, int64, in increasing order."""


@dataclass(frozen=True, eq=False)
class Uniform(Design):
    """K of the available clients, every subset equally likely; all of them if there are fewer than K."""

    available: np.ndarray
    clients_per_round: int

    def __post_init__(self) -> None:
        _mask(self.available, len(self.available))
        validation.integer("clients_per_round", self.clients_per_round, minimum=1)

    @property
    def probabilities(self) -> np.ndarray:
        """min(1, K/n) for each of the n available clients."""
        return _equal_probabilities(self.available, self.clients_per_round)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One cohort of min(K, n) clients."""
        return draw_cohort(np.flatnonzero(self.available), self.clients_per_round, rng)


@dataclass(frozen=True, eq=False)
class Systematic(Design):
    """The n available clients in a row, cluster by cluster; a random start, then every (n/K)-th of them.

    ``labels`` int64 [N]: cluster of each client, −1 for a stratum of one. The order within a cluster is random; the
    strata of one stand last, and in random order too, so that without clusters this is :class:`Uniform`. Every client
    has probability K/n exactly, the cohort has K clients exactly, and a cluster with n_c available clients gets the
    floor or the ceiling of its share n_c·K/n (the strata of one together also). It replaces [004]'s β·n_c clients per
    cluster, which for small clusters is less than one.
    """

    labels: np.ndarray
    clients_per_round: int
    available: np.ndarray | None = None

    def __post_init__(self) -> None:
        _check_labels(self.labels)
        _mask(self.available, len(self.labels))
        validation.integer("clients_per_round", self.clients_per_round, minimum=1)

    @property
    def probabilities(self) -> np.ndarray:
        """min(1, K/n) for each of the n available clients."""
        return _equal_probabilities(_mask(self.available, len(self.labels)), self.clients_per_round)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One cohort of min(K, n) clients.

        In units of 1/K of a place, client i of the row fills [iK, (i + 1)K) and a point falls on s, s + n, s + 2n, …:
        whole numbers, so that nothing is lost to rounding.
        """
        present = np.flatnonzero(_mask(self.available, len(self.labels)))
        num, size = len(present), min(self.clients_per_round, len(present))
        if num == 0:
            return present
        row = rng.permutation(present)
        noise_last = np.where(self.labels < 0, self.labels.max() + 1, self.labels)
        row = row[np.argsort(noise_last[row], kind="stable")]
        start = rng.integers(num)
        return np.sort(row[(start + num * np.arange(size)) // size])


@dataclass(frozen=True, eq=False)
class AtLeastOne(Design):
    """max(1, β·n_c rounded half up) of the n_c available clients of every cluster, uniformly within it.

    ``labels`` int64 [N], −1 for a stratum of one, which is therefore always drawn; ``fraction`` β in (0, 1]. Closest to
    the letter of [004] algorithm 1. The cohort grows with the number of clusters, and small clusters are drawn too
    often: π_k = s_c/n_c differs between them, and the weights have to make up for it.
    """

    labels: np.ndarray
    fraction: float
    available: np.ndarray | None = None

    def __post_init__(self) -> None:
        _check_labels(self.labels)
        _mask(self.available, len(self.labels))
        validation.real("fraction", self.fraction, maximum=1, exclusive=True)

    @property
    def probabilities(self) -> np.ndarray:
        """s_c/n_c for each available client of cluster c."""
        probabilities = np.zeros(len(self.labels))
        for stratum, count in self._strata():
            probabilities[stratum] = count / len(stratum)
        return probabilities

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One cohort of Σ s_c clients."""
        drawn = [rng.choice(stratum, count, replace=False) for stratum, count in self._strata()]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *drawn]))

    def _strata(self) -> list[tuple[np.ndarray, int]]:
        """The available clients of each stratum, and how many of them to draw."""
        present = _mask(self.available, len(self.labels))
        clusters = members_of(self.labels)
        alone = clusters.pop(-1, np.empty(0, dtype=np.int64))
        strata = [members[present[members]] for members in (*clusters.values(), *alone[:, None])]
        return [(stratum, max(1, int(self.fraction * len(stratum) + 0.5))) for stratum in strata if len(stratum)]


def _equal_probabilities(available: np.ndarray, clients_per_round: int) -> np.ndarray:
    return available * min(1.0, clients_per_round / max(1, int(available.sum())))


def _mask(available: np.ndarray | None, num_clients: int) -> np.ndarray:
    """``available`` checked, or everybody."""
    mask = np.ones(num_clients, dtype=bool) if available is None else available
    if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (num_clients,) or num_clients == 0:
        raise ValueError("available: must be a bool array [N] with one entry per client, N ≥ 1")
    return mask


def _check_labels(labels: np.ndarray) -> None:
    is_integer = isinstance(labels, np.ndarray) and np.issubdtype(labels.dtype, np.integer)
    if not is_integer or labels.ndim != 1 or len(labels) == 0 or labels.min() < -1:
        raise ValueError("labels: must be an integer array [N] with one entry per client, −1 (noise) or a cluster")
