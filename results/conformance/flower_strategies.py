"""Flower's built-in strategies (flwr 1.41.0, ``flwr.serverapp.strategy``), with plain SGD on the
clients.

Driven: ``configure_train`` and ``aggregate_train`` of each strategy, on messages that are made here
without a network. Flower leaves local training to its user. For FedProx it is the code in the
docstring of Flower's FedProx, and q-FedAvg gets the client's loss at the parameters received.

Requirements: flwr 1.41.0 with all its dependencies.
"""

import copy
import gc
import logging
from types import SimpleNamespace

import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from flwr.serverapp import strategy
from flwr.supercore.task_identity import TaskIdentity
from torch.nn.utils import parameters_to_vector

REQUIRES = ["flwr==1.41.0", "torch", "numpy"]
CHANGES = {
    "local training": "Flower leaves it to its user; plain SGD is here",
    "network": "strategies get their messages without one",
}
# what a running app would have
TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1
logging.getLogger("flwr").setLevel(logging.ERROR)
NAMES = {"beta1": "beta_1", "beta2": "beta_2", "mu": "proximal_mu", "beta": "server_momentum"}


def run(task):
    # Flower collects garbage for every message, which is slow with all that was imported
    gc.freeze()
    if task.algorithm == "FedAdagrad":
        raise NotImplementedError("Flower's FedAdagrad has no β₁")
    known = ("FedAvg", "FedProx", "FedAvgM", "FedAdam", "FedYogi", "QFedAvg")
    if task.algorithm not in known:
        raise NotImplementedError(f"Flower has no strategy {task.algorithm}")
    given = {NAMES.get(name, name): value for name, value in task.parameters.items()}
    if "server_lr" in given:
        given["server_learning_rate" if task.algorithm == "FedAvgM" else "eta"] = given.pop(
            "server_lr"
        )
    if task.algorithm == "QFedAvg":
        given["client_learning_rate"] = task.lr
    server = getattr(strategy, task.algorithm)(**given, min_train_nodes=1, min_available_nodes=1)
    model = task.model()
    after = []
    for number, cohort in enumerate(task.cohorts, start=1):
        grid = SimpleNamespace(get_node_ids=lambda cohort=cohort: cohort)
        config = ConfigRecord()
        server.configure_train(number, ArrayRecord(model.state_dict()), config, grid)
        arrays, _ = server.aggregate_train(number, [reply(task, k, model, config) for k in cohort])
        model.load_state_dict(
            {name: torch.from_numpy(array.numpy().copy()) for name, array in arrays.items()}
        )
        after.append(parameters_to_vector(model.parameters()).detach().numpy().copy())
    return after


def reply(task, client, received, config):
    net, global_params, (x, y) = (
        copy.deepcopy(received),
        copy.deepcopy(received).parameters(),
        task.data(client),
    )
    global_params = list(global_params)
    loss = task.loss(net(x), y).item()
    optimizer = torch.optim.SGD(net.parameters(), lr=task.lr, momentum=task.local_momentum)
    for rows in torch.arange(len(x)).split(task.batch_size or len(x)) * task.epochs:
        optimizer.zero_grad()
        value = task.loss(net(x[rows]), y[rows])
        if "proximal-mu" in config:
            proximal_term = 0.0
            for local_weights, global_weights in zip(net.parameters(), global_params, strict=True):
                proximal_term += (local_weights - global_weights).norm(2)
            value = value + (config["proximal-mu"] / 2) * proximal_term
        value.backward()
        optimizer.step()
    arrays = ArrayRecord(
        {name: Array(value.detach().numpy()) for name, value in net.state_dict().items()}
    )
    metrics = MetricRecord({"num-examples": len(x), "train_loss": loss})
    return SimpleNamespace(
        has_error=lambda: False, content=RecordDict({"arrays": arrays, "metrics": metrics})
    )
