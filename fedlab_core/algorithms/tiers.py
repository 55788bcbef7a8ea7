"""Ways of dividing the clients of FedMas into tiers, each with its own parameters."""

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.algorithms.base import FederatedDataset, Server
from fedlab_core.algorithms.probe import check_enough_clients, probe_clients
from fedlab_core.clustering import dbscan, kmeans, settle_noise
from fedlab_core.reproduce.description import in_words


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
            raise ValueError(f"tiers: {len(self.tiers)} tiers given for {fed.num_clients} clients; give one for each")

    def labels(self, server: Server) -> np.ndarray:
        return np.array(self.tiers, dtype=np.int64)


@dataclass(frozen=True)
class Probing(Tiers):
    """Clusters of the clients' updates after ``probe_epochs`` at rate ``probe_lr`` in batches of ``probe_batch``.

    ``projection`` D: cluster random projections [N, D] of the updates, for thousands of clients; the distances take
    N²P/2 products without it.
    """

    probe_epochs: int = 1
    probe_lr: float = 0.01
    probe_batch: int = 10
    projection: int | None = None

    def __post_init__(self) -> None:
        for name in ("probe_epochs", "probe_batch"):
            validation.integer(name, getattr(self, name), minimum=1)
        validation.real("probe_lr", self.probe_lr, exclusive=True)
        if self.projection is not None:
            validation.integer("projection", self.projection, minimum=1)

    def _points(self, server: Server) -> np.ndarray:
        work: dict[str, Any] = {"epochs": self.probe_epochs, "lr": self.probe_lr, "batch_size": self.probe_batch}
        return probe_clients(server, **work, projection=self.projection).points


@dataclass(frozen=True)
class Dbscan(Probing):
    """DBSCAN clusters; noise joins the nearest cluster. ``eps`` None is the knee of the k-distances."""

    eps: float | None = None
    min_samples: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.integer("min_samples", self.min_samples, minimum=2)
        if self.eps is not None:
            validation.real("eps", self.eps, exclusive=True)

    def check(self, fed: FederatedDataset) -> None:
        check_enough_clients("min_samples", self.min_samples, fed)

    def labels(self, server: Server) -> np.ndarray:
        points = self._points(server)
        found = dbscan(points, self.eps, self.min_samples)
        if found.num_clusters:
            return settle_noise(found.labels, points, "nearest")
        warnings.warn(
            f"DBSCAN found no cluster at eps={found.eps:.3g}: all clients are noise and form one tier. Try "
            "Dbscan(eps=…), tiers='kmeans' or given tiers",
            stacklevel=2,
        )
        return np.zeros(server.num_clients, dtype=np.int64)


@dataclass(frozen=True)
class KMeans(Probing):
    """``num_tiers`` clusters of k-means."""

    num_tiers: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.integer("num_tiers", self.num_tiers, minimum=1)

    def check(self, fed: FederatedDataset) -> None:
        check_enough_clients("num_tiers", self.num_tiers, fed)

    def labels(self, server: Server) -> np.ndarray:
        return kmeans(self._points(server), self.num_tiers, server.seed).labels


TIERS: dict[str, type[Tiers]] = {"dbscan": Dbscan, "kmeans": KMeans, "one": OneTier}


def tiers_from(value: Tiers | str | Sequence[int]) -> Tiers:
    """The tiers from an instance, a text such as "kmeans(num_tiers=5)", or a tier for each client [N]."""
    if isinstance(value, Tiers):
        return value
    if isinstance(value, str):
        name, _, rest = value.partition("(")
        kind = TIERS[validation.choice("tiers", name, TIERS)]
        return kind(**_parameters(value, kind)) if rest else kind()
    try:
        labels = np.asarray(value)
    except ValueError:  # lists of different lengths
        labels = np.empty(0)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or len(labels) == 0 or labels.min() < 0:
        allowed = ", ".join(map(repr, TIERS))
        raise ValueError(f"tiers={value!r}: must be one of {allowed}, or an integer ≥ 0 for each client, [N]")
    return Given([int(label) for label in labels])


def _parameters(text: str, kind: type[Tiers]) -> dict[str, Any]:
    """The keywords of a call such as "kmeans(num_tiers=5)"."""
    try:
        match ast.parse(text, mode="eval").body:
            case ast.Call(func=ast.Name(), args=[], keywords=keywords):
                given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords}
            case _:
                raise ValueError(text)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"tiers={text!r}: must be a name, or a call with keywords: kmeans(num_tiers=5)") from error
    return {validation.choice("parameter of tiers", name, signature(kind).parameters): given[name] for name in given}
