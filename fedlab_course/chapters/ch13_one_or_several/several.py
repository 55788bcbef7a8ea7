"""One model for everybody, one for each cluster, or one for each client: a method, a federation, and how they serve."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split


@dataclass(frozen=True)
class PerCluster(fl.FedSSO):
    """A model for each cluster that FedSSO's probe finds: FedAvg within the clusters, and nothing between them.

    All models begin at w_1, the mean of the probe. A client in no cluster joins the nearest one; where there is no
    cluster at all, everybody is in one. The global parameters are the mean of all models by samples, which nobody uses.
    Adds to FedSSO's state: ``models`` [clusters, P].
    """

    def setup(self, server: Any) -> None:
        super().setup(server)
        found = server.state["clusters"]
        server.state["clusters"] = torch.zeros_like(found) if (found < 0).all() else found
        server.state["models"] = server.params.repeat(int(server.state["clusters"].max()) + 1, 1)

    def correction(self, server: Any, client: int) -> fl.Correction:
        return fl.Correction(start=self.client_params(server, np.array([client]))[0])

    def aggregate(self, server: Any, updates: Any) -> torch.Tensor:
        mine, models = server.state["clusters"][updates.clients], server.state["models"].clone()
        for c in mine.unique().tolist():
            models[c] = updates.weighted_mean(updates.num_samples * (mine == c))
        server.state["models"] = models
        shares = torch.from_numpy(server.fed.weights).to(models)
        return shares @ models[server.state["clusters"]]

    def client_params(self, server: Any, clients: np.ndarray) -> torch.Tensor:
        return server.state["models"][server.state["clusters"][clients]]


@dataclass(frozen=True, eq=False)
class Concepts:
    """A federation whose clients name things differently: group g = ``ids[k]`` of client k calls label c (c + g) mod C.

    ``fed``: IID but for the names, and its test set has those of group 0; ``tests`` holds the test set of each client.
    """

    fed: fl.FederatedDataset
    ids: np.ndarray
    tests: list[Split]


def concepts(data: Dataset, *, num_clients: int, num_groups: int, seed: int = 0) -> Concepts:
    """Deal out ``data`` evenly, and let client k belong to group k mod ``num_groups``, from 1 to the classes C.

    Raises ``ValueError`` for another number of groups, and for data without classes.
    """
    classes = data.num_classes
    if classes is None or not 1 <= num_groups <= classes:
        raise ValueError(f"num_groups={num_groups}: must be an integer from 1 to the number of classes, {classes}")
    ids = np.arange(num_clients) % num_groups
    parts = fl.partition.iid(data.train.y, num_clients=num_clients, seed=seed)
    index = [torch.from_numpy(part) for part in parts]
    clients = [(data.train.x[i], (data.train.y[i] + g) % classes) for i, g in zip(index, ids.tolist(), strict=True)]
    fed = fl.FederatedDataset.from_clients(clients, (data.test.x, data.test.y), name=f"{data.name}, {num_groups} names")
    renamed = [Split(data.test.x, (data.test.y + g) % classes) for g in range(num_groups)]
    return Concepts(fed, ids, [renamed[g] for g in ids])


@dataclass(frozen=True, eq=False)
class Served:
    """How the model that each client uses does after a run, arrays [N].

    ``own``: its accuracy on the client's held-out samples; ``trained``: on those that the client trains on; ``whole``:
    on the whole test set, with all labels. ``models`` [N]: which clients share one, numbers from 0.
    """

    history: fl.History
    own: np.ndarray
    trained: np.ndarray
    whole: np.ndarray
    models: np.ndarray

    @property
    def worst(self) -> float:
        """The mean of ``own`` over the worst tenth of clients."""
        assert self.history.clients is not None  # the run has ended
        return float(self.history.clients.worst_decile)


def serve(
    fed: fl.FederatedDataset,
    model: nn.Module,
    algorithm: fl.Algorithm,
    tests: list[Split] | None = None,
    *,
    held_out: float = 0.25,
    **settings: Any,
) -> Served:
    """Run ``algorithm``, with a share ``held_out`` of each client's samples kept from training, and measure clients.

    ``tests``: the test set of each client, by default that of ``fed``; ``settings``: further arguments of
    :func:`fedlab_core.simulate`.
    """
    kept: list[torch.Tensor] = []

    def keep(record: Any, server: Any) -> None:
        if record.round == simulation.settings.rounds:
            rows = algorithm.client_params(server, np.arange(fed.num_clients))
            kept.append(rows.expand(fed.num_clients, -1).clone())

    simulation = fl.Simulation(fed, model, algorithm, held_out=held_out, on_round=keep, **settings)
    history = simulation.run()
    assert history.clients is not None  # the run has ended
    [params], module = kept, simulation.model
    trained, whole = np.empty(fed.num_clients), np.empty(fed.num_clients)
    for k, row in enumerate(params):
        vector_to_parameters(row, module.parameters())
        trained[k] = _accuracy(module, *simulation.fed.client(k))
        test = fed.test if tests is None else tests[k]
        whole[k] = _accuracy(module, test.x, test.y)
    models = torch.unique(params, dim=0, return_inverse=True)[1].numpy()
    return Served(history, np.asarray(history.clients.accuracy), trained, whole, models)


def _accuracy(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    with torch.no_grad():
        return float((module(x).argmax(1) == y).float().mean())
