# mypy: allow-untyped-defs
"""This library, with the engine that $FEDLAB_ENGINE names ("auto" if it is not set)."""

import os

import torch

import fedlab_core as fl


def run(task, classes=None):
    """Run ``fl.Simulation`` with the cohorts of the task. ``classes``: name → class, other than the library's own."""
    clients = [task.data(client) for client in range(task.num_clients)]
    if task.algorithm == "MAS":
        return {"importance": fl.importance.mas(task.model(), clients[0][0]).numpy()}
    simulation = fl.Simulation(
        fl.FederatedDataset.from_clients(clients, test=clients[0]),
        task.model(),
        algorithm(task, classes or {}),
        rounds=len(task.cohorts),
        clients_per_round=len(task.cohorts[0]),
        local_epochs=task.epochs,
        batch_size=task.batch_size,
        lr=task.lr,
        local_momentum=task.local_momentum,
        loss=lambda output, target: task.loss(output, target),
        engine=os.environ.get("FEDLAB_ENGINE", "auto"),
        progress=False,
    )
    states = [simulation.state_dict() for _ in simulation]
    controls = ("c", "c_clients") if task.algorithm == "Scaffold" else ()
    answer = {name: [state["algorithm"][name].numpy() for state in states] for name in controls}
    return answer | {"w": [state["params"].numpy() for state in states]}


def algorithm(task, classes):
    """The algorithm, in a subclass that takes the cohorts, and for FedSSO the strata, of the task."""
    kind, parameters = (vars(fl.algorithms) | {"Stratified": fl.FedSSO} | classes)[task.algorithm], task.parameters
    given = {"cohorts": lambda self, server: [task.cohorts[server.round - 1]]}
    if task.algorithm == "Stratified":
        given["setup"] = lambda self, server: server.state.update(clusters=torch.tensor(task.parameters["strata"]))
        parameters = {"sampling": "at_least_one"}
    return type("Given", (kind,), given)(**parameters)
