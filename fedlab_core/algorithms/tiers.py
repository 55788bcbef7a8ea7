"""Ways of dividing the clients of FedMas into tiers, each with its own parameters."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedlab_core import validation
from fedlab_core.algorithms.base import FederatedDataset, Server
from fedlab_core.algorithms.probe import check_enough_clients, probe_clients
from fedlab_core.clustering import dbscan, kmeans, settle_noise
from fedlab_core.description import in_words
from fedlab_core.validation import Count, Positive, Several


class Tiers:
    """Base class of the ways of dividing the clients."""

    def __str__(self) -> str:
        return in_words(self)

    def check(self, fed: FederatedDataset) -> None:
        """Raise ``ValueError`` for a federation that cannot be divided like this."""

    def labels(self, server: Server) -> np.ndarray:
        """The tier of each client, int64 ≥ 0 [N]; probes the clients if necessary."""
        raise NotImplementedError


@dataclass(frozen=True)
class OneTier(Tiers):
    """All clients in one tier."""

    def labels(self, server: Server) -> np.ndarray:
        return np.zeros(server.num_clients, dtype=np.int64)


@dataclass(frozen=True)
class Given(Tiers):
    """A given tier for each client: integers ≥ 0 [N]."""

    tiers: list[int]

    def __str__(self) -> str:
        return f"[{len(self.tiers)} values]"

    def check(self, fed: FederatedDataset) -> None:
        if len(self.tiers) != fed.num_clients:
            raise ValueError(
                f"tiers: {len(self.tiers)} tiers given for {fed.num_clients} clients; give one for "
                "each"
            )

    def labels(self, server: Server) -> np.ndarray:
        return np.array(self.tiers, dtype=np.int64)


@dataclass(frozen=True)
class Probing(Tiers):
    """Clusters of the clients' updates after ``probe_epochs`` at rate ``probe_lr`` in batches of
    ``probe_batch``.

    ``projection`` D: cluster random projections [N, D] of the updates, for thousands of clients.
    """

    probe_epochs: Count = 1
    probe_lr: Positive = 0.01
    probe_batch: Count = 10
    projection: Count | None = None

    def __post_init__(self) -> None:
        validation.check_fields(self)

    def _points(self, server: Server) -> np.ndarray:
        points, _ = probe_clients(
            server,
            epochs=self.probe_epochs,
            lr=self.probe_lr,
            batch_size=self.probe_batch,
            projection=self.projection,
        )
        return points


@dataclass(frozen=True)
class Dbscan(Probing):
    """DBSCAN clusters; noise joins the nearest cluster.

    ``eps``: None is the knee of the k-distances.
    """

    eps: Positive | None = None
    min_samples: Several = 2

    def check(self, fed: FederatedDataset) -> None:
        check_enough_clients("min_samples", self.min_samples, fed)

    def labels(self, server: Server) -> np.ndarray:
        points = self._points(server)
        clustering = dbscan(points, self.eps, self.min_samples)
        if clustering.num_clusters:
            return settle_noise(clustering.labels, points, "nearest")
        warnings.warn(
            f"DBSCAN found no cluster at eps={clustering.eps:.3g}: all clients are noise and form "
            "one tier. Try Dbscan(eps=…) or tiers='kmeans'",
            stacklevel=2,
        )
        return np.zeros(server.num_clients, dtype=np.int64)


@dataclass(frozen=True)
class KMeans(Probing):
    """``num_tiers`` clusters of k-means."""

    num_tiers: Count = 10

    def check(self, fed: FederatedDataset) -> None:
        check_enough_clients("num_tiers", self.num_tiers, fed)

    def labels(self, server: Server) -> np.ndarray:
        return kmeans(self._points(server), self.num_tiers, server.seed).labels


TIERS: dict[str, type[Tiers]] = {"dbscan": Dbscan, "kmeans": KMeans, "one": OneTier}


def tiers_from(value: Tiers | str | Sequence[int]) -> Tiers:
    """The tiers from an instance, a name in ``TIERS``, or a tier for each client [N]."""
    if isinstance(value, Tiers):
        return value
    if isinstance(value, str):
        return TIERS[validation.choice("tiers", value, TIERS)]()
    labels = validation.indices("tiers", value).tolist()
    if not labels or min(labels) < 0:
        raise ValueError(f"tiers={value!r}: must be a name, or an integer ≥ 0 for each client, [N]")
    return Given(labels)
