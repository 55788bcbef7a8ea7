# mypy: allow-untyped-defs
"""This library, with the engine that $FEDLAB_ENGINE names ("auto" if it is not set)."""

import os
from dataclasses import replace
from unittest import mock

import numpy as np
import torch

import fedlab_core as fl

REQUIRES = ["fedlab-core"]
CHANGES = {
    "order of samples": "the library shuffles every epoch; here the samples keep their order",
    "cohorts": "the library draws them; here they are those of the task",
}
STREAMS = "fedlab_core.engines.work.client_streams"


class InOrder:
    """In place of the random stream that orders the samples of a client."""

    def permuted(self, orders, axis):
        return orders


def in_order(*rest, clients, **names):
    return [InOrder() for _ in clients]


def run(task, classes=None):
    """Run ``fl.Simulation`` with the cohorts of the task.

    ``classes``: name → class, other than the library's own.
    """
    if task.kind == "batchnorm":
        raise NotImplementedError("the library refuses models with batch normalisation")
    clients = [task.data(client) for client in range(task.num_clients)]
    if task.algorithm == "MAS":
        omega = fl.importance.mas(task.model(), clients[0][0], **task.parameters)
        return {"importance": omega.numpy()}
    offered(task)
    path = list[np.ndarray]()
    simulation = fl.Simulation(
        fl.FederatedDataset.from_clients(clients, test=clients[0]),
        task.model(),
        algorithm(task, classes or {}, path),
        rounds=len(task.cohorts) // cohorts_in_a_round(task),
        clients_per_round=len(task.cohorts[0]),
        local_epochs=task.epochs,
        batch_size=task.batch_size,
        lr=task.lr_of if task.algorithm != "FedMas" else task.lr,
        local_momentum=task.local_momentum,
        loss=lambda output, target: task.loss(output, target),
        engine=os.environ.get("FEDLAB_ENGINE", "auto"),
        progress=False,
    )
    with mock.patch(STREAMS, in_order):
        states = [simulation.state_dict() for _ in simulation]
    controls = ("c", "c_clients") if task.algorithm == "Scaffold" else ()
    answer = {name: [state["algorithm"][name].numpy() for state in states] for name in controls}
    return answer | {"w": path}


def offered(task):
    """Raise ``NotImplementedError`` for what the library does not have."""
    if not hasattr(fl.algorithms, task.algorithm) and task.algorithm != "Stratified":
        raise NotImplementedError(f"the library has no {task.algorithm}")


def cohorts_in_a_round(task):
    return task.parameters.get("num_tiers", 1)


def algorithm(task, classes, path):
    """The algorithm, in a subclass that takes the cohorts of the task, for FedSSO the strata, and
    for FedMas the clients that measure Ω.

    ``path``: the list that gets w after every server update.
    """
    kind = (vars(fl.algorithms) | {"Stratified": fl.FedSSO} | classes)[task.algorithm]
    parameters = dict(task.parameters)

    def cohorts(self, server):
        each = cohorts_in_a_round(task)
        return task.cohorts[(server.round - 1) * each : server.round * each]

    def after_aggregation(self, server, updates):
        kind.after_aggregation(self, server, updates)
        path.append(server.params.numpy())

    def correction(self, server, client):
        """The correction of the algorithm, with the work of a straggler."""
        amount = task.epochs_of(server.round - 1, client) if task.work else None
        return replace(kind.correction(self, server, client), amount=amount)

    given = {"cohorts": cohorts, "correction": correction, "after_aggregation": after_aggregation}
    if task.algorithm == "Stratified":
        given["setup"] = lambda self, server: server.state.update(
            clusters=torch.tensor(task.parameters["strata"])
        )
        parameters = {"sampling": "at_least_one"}
    if task.algorithm == "FedMas":
        given["tier_cohorts"] = given.pop("cohorts")
        measured_by = parameters.pop("measured_by")
        given["measuring_client"] = lambda self, server, updates: measured_by[len(path)]
        num_tiers = parameters.pop("num_tiers")
        parameters["tiers"] = [k % num_tiers for k in range(task.num_clients)]
    return type("Given", (kind,), given)(**parameters)
