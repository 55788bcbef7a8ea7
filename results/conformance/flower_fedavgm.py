"""Flower's baseline fedavgm (adap/flower, commit fdef7afb1dca), with its folder
baselines/fedavgm on PYTHONPATH.

Driven: ``FlowerClient.fit`` and the strategy ``CustomFedAvgM``; for FedAvg flwr's strategy, as the
baseline's configuration has it. Replaced: the Keras model, by one with the same methods that trains
the task's model with plain SGD; the sampled clients, by the task's cohorts. The strategy is the
baseline's work; local training is Keras's.

Requirements: flwr 1.41.0 (the baseline asks for 1.5.0); keras, hydra and omegaconf are stubs.
Minutes to write: 8.
"""

import logging
import sys
from importlib import import_module
from unittest import mock

import numpy as np
import torch
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAvg

REQUIRES = ["flwr==1.41.0", "torch", "numpy"]
SOURCE = "https://github.com/adap/flower @ fdef7afb1dca"
ON_PATH = ["baselines/fedavgm"]
CHANGES = {
    "local training": "plain SGD on the model of the task, behind the methods of a Keras model",
    "network": "clients and strategy are called without one",
}
for name in ("keras", "keras.utils", "hydra", "hydra.utils", "omegaconf"):
    sys.modules[name] = mock.MagicMock()
logging.getLogger("flwr").setLevel(logging.ERROR)
client = import_module("fedavgm.client")
CustomFedAvgM = import_module("fedavgm.strategy").CustomFedAvgM
client.instantiate = lambda model: model
client.to_categorical = lambda y, num_classes: y


def run(task):
    if task.algorithm not in ("FedAvg", "FedAvgM"):
        raise NotImplementedError(f"the baseline has no {task.algorithm}")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    clients = [
        client.FlowerClient(*task.data(k), None, None, KerasModel(task), 3)
        for k in range(task.num_clients)
    ]
    parameters = ndarrays_to_parameters(KerasModel(task).get_weights())
    strategy = FedAvg()
    if task.algorithm == "FedAvgM":
        strategy = CustomFedAvgM(
            initial_parameters=parameters,
            server_learning_rate=task.parameters["server_lr"],
            server_momentum=task.parameters["beta"],
        )
    after = []
    for number, cohort in enumerate(task.cohorts, start=1):
        config = {"local_epochs": task.epochs, "batch_size": task.batch_size}
        answers = [clients[k].fit(parameters_to_ndarrays(parameters), config) for k in cohort]
        results = [
            (None, FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays), count, metrics))
            for arrays, count, metrics in answers
        ]
        parameters, _ = strategy.aggregate_fit(number, results, [])
        arrays = parameters_to_ndarrays(parameters)
        after.append(np.concatenate([array.reshape(-1) for array in arrays]))
    return after


class KerasModel:
    """What the baseline calls of a Keras model, with plain SGD in PyTorch."""

    def __init__(self, task):
        self.task = task
        self.net = task.model()

    def get_weights(self):
        return [value.detach().numpy().copy() for value in self.net.parameters()]

    def set_weights(self, arrays):
        with torch.no_grad():
            for value, array in zip(self.net.parameters(), arrays, strict=True):
                value.copy_(torch.from_numpy(array))

    def fit(self, x, y, epochs, batch_size, verbose):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=self.task.lr)
        for rows in torch.arange(len(x)).split(batch_size or len(x)) * epochs:
            optimizer.zero_grad()
            self.task.loss(self.net(x[rows]), y[rows]).backward()
            optimizer.step()
