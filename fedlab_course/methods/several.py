"""One model for everybody, one for each cluster, or one for each client: a method, a federation,
and how they serve.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.clustering import dbscan, kmeans
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines.flat import FlatModel
from fedlab_core.validation import Count


@dataclass(frozen=True)
class PerCluster(fl.FedSSO):
    """A model for each cluster that FedSSO's probe finds: FedAvg within the clusters, and nothing
    between them.

    All models begin at w_1, the mean of the probe; without any cluster, everybody is in one. The
    global parameters are the mean of all models by samples, which nobody uses. Adds to FedSSO's
    state: ``models`` [clusters, P].
    """

    def setup(self, server: Any) -> None:
        super().setup(server)
        found = server.state["clusters"]
        server.state["clusters"] = torch.zeros_like(found) if (found < 0).all() else found
        server.state["models"] = server.params.repeat(int(server.state["clusters"].max()) + 1, 1)

    def correction(self, server: Any, client: int) -> fl.Correction:
        return fl.Correction(start=self.client_params(server, np.array([client]))[0])

    def aggregate(self, server: Any, updates: Any) -> torch.Tensor:
        mine = server.state["clusters"][updates.clients]
        models = server.state["models"].clone()
        for c in mine.unique().tolist():
            models[c] = updates.weighted_mean(updates.num_samples * (mine == c))
        server.state["models"] = models
        shares = torch.from_numpy(server.fed.weights).to(models)
        return shares @ models[server.state["clusters"]]

    def client_params(self, server: Any, clients: np.ndarray) -> torch.Tensor:
        return server.state["models"][server.state["clusters"][clients]]


@dataclass(frozen=True)
class PerKMeans(PerCluster):
    """As :class:`PerCluster`, with the ``num_clusters`` clusters of k-means in place of OPTICS."""

    num_clusters: Count = 4

    def cluster_labels(self, server: Any, points: np.ndarray) -> np.ndarray:
        return kmeans(points, self.num_clusters, server.seed).labels


@dataclass(frozen=True)
class PerDbscan(PerCluster):
    """As :class:`PerCluster`, with the clusters of DBSCAN at the knee of the k-distances."""

    def cluster_labels(self, server: Any, points: np.ndarray) -> np.ndarray:
        return dbscan(points).labels


class Concepts(NamedTuple):
    """A federation whose clients name things differently: group g = ``ids[k]`` of client k calls
    label c (c + g) mod C.

    ``fed``: IID but for the names, and its test set has those of group 0; ``tests``: the test set
    of each client.
    """

    fed: fl.FederatedDataset
    ids: np.ndarray
    tests: list[Split]


def concepts(data: Dataset, *, num_clients: int, num_groups: int, seed: int = 0) -> Concepts:
    """Deal out ``data`` evenly, and let client k belong to group k mod ``num_groups``, from 1 to
    the classes C.
    """
    classes = len(data.classes)
    validation.integer("num_groups", num_groups, minimum=1, maximum=classes)
    ids = np.arange(num_clients) % num_groups
    parts = fl.partition.iid(data.train.y, num_clients=num_clients, seed=seed)
    pairs = zip(parts, ids.tolist(), strict=True)
    clients = [
        (data.train.x[part], (data.train.y[part] + group) % classes) for part, group in pairs
    ]
    fed = fl.FederatedDataset.from_clients(
        clients, (data.test.x, data.test.y), name=f"{data.name}, {num_groups} names"
    )
    renamed = [Split(data.test.x, (data.test.y + g) % classes) for g in range(num_groups)]
    return Concepts(fed, ids, [renamed[g] for g in ids])


class Served(NamedTuple):
    """How the model that each client uses does after a run, arrays [N].

    ``own``: its accuracy on the client's held-out samples; ``trained``: on those that the client
    trains on; ``whole``: on the whole test set, with all labels. ``models`` [N]: which clients
    share one, numbers from 0.
    """

    history: fl.History
    own: np.ndarray
    trained: np.ndarray
    whole: np.ndarray
    models: np.ndarray


def serve(
    fed: fl.FederatedDataset,
    model: nn.Module,
    algorithm: fl.Algorithm,
    tests: list[Split] | None = None,
    **settings: Any,
) -> Served:
    """Run ``algorithm`` and measure clients; unless ``held_out`` is set, a quarter of each client's
    samples is kept from training.

    ``tests``: the test set of each client, by default that of ``fed``; ``settings``: further
    arguments of :func:`fedlab_core.simulate`.
    """
    settings = {"held_out": 0.25} | settings
    everybody = np.arange(fed.num_clients)
    flat = FlatModel(model)
    rows = torch.empty(0)

    def keep(record: Any, server: Any) -> None:
        nonlocal rows
        if record.round == settings["rounds"]:
            rows = algorithm.client_params(server, everybody).expand(len(everybody), -1).clone()

    def accuracies(sets: list[Any]) -> np.ndarray:
        with torch.no_grad():
            found = [
                (flat(row, x).argmax(1) == y).float().mean()
                for row, (x, y) in zip(rows, sets, strict=True)
            ]
        return np.array(found, dtype=float)

    simulation = fl.Simulation(fed, model, algorithm, on_round=keep, **settings)
    history = simulation.run()
    assert history.clients is not None  # the run has ended
    trained = accuracies([simulation.fed.client(k) for k in range(fed.num_clients)])
    whole = accuracies([(one.x, one.y) for one in tests or [fed.test] * len(everybody)])
    models = torch.unique(rows, dim=0, return_inverse=True)[1].numpy()
    return Served(history, history.clients.accuracy, trained, whole, models)
