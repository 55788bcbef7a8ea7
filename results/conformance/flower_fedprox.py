"""Flower's baseline fedprox (adap/flower, commit fdef7afb1dca), with its folder
baselines/fedprox on PYTHONPATH.

Driven: ``FlowerClient.fit`` with its training loop, and the strategy ``FedAvgWithStragglerDrop``,
without stragglers; FedAvg is μ = 0, as in the baseline. Replaced: the network and the data loader,
``CrossEntropyLoss`` by the task's loss, the sampled clients by its cohorts.

Requirements: flwr 1.41.0, easydict; datasets, flwr_datasets and torchvision, for data sets, are
stubs. Minutes to write: 8.
"""

import logging
import sys
from importlib import import_module
from unittest import mock

import numpy as np
from easydict import EasyDict
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays

REQUIRES = ["flwr==1.41.0", "torch", "numpy", "easydict"]
SOURCE = "https://github.com/adap/flower @ fdef7afb1dca"
ON_PATH = ["baselines/fedprox"]
CHANGES = {
    "loss": "CrossEntropyLoss is the loss of the task",
    "stragglers": "none: the baseline's epochs are those of the task",
    "network": "clients and strategy are called without one",
    "batch size": "where the task has none, a client gets the number of its samples",
}
for name in (
    "datasets",
    "flwr_datasets",
    "flwr_datasets.partitioner",
    "flwr_datasets.preprocessor",
    "torchvision",
    "torchvision.transforms",
):
    sys.modules[name] = mock.MagicMock()
sys.modules["flwr_datasets.preprocessor"].Preprocessor = object
logging.getLogger("flwr").setLevel(logging.ERROR)
FlowerClient = import_module("fedprox.client_app").FlowerClient
Strategy = import_module("fedprox.strategy").FedAvgWithStragglerDrop


def run(task):
    if task.algorithm not in ("FedAvg", "FedProx"):
        raise NotImplementedError(f"the baseline has no {task.algorithm}")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    if task.kind == "batchnorm":
        raise NotImplementedError("the adapter has no buffers of batch normalisation")
    strategy = Strategy()
    clients = [client_of(task, k) for k in range(task.num_clients)]
    model = task.model()
    parameters = ndarrays_to_parameters([value.detach().numpy() for value in model.parameters()])
    after = []
    with mock.patch("torch.nn.CrossEntropyLoss", lambda: task.loss):
        for number, cohort in enumerate(task.cohorts, start=1):
            results = [reply(clients[k], parameters, number) for k in cohort]
            parameters, _ = strategy.aggregate_fit(number, results, [])
            arrays = parameters_to_ndarrays(parameters)
            after.append(np.concatenate([array.reshape(-1) for array in arrays]))
    return after


def client_of(task, number):
    algorithm = {"mu": task.parameters.get("mu", 0.0)}
    return FlowerClient(
        task.model(),
        loader(task, number),
        None,
        task.epochs,
        task.lr,
        np.zeros(len(task.cohorts)),
        EasyDict(run_config={"algorithm": algorithm, "fit": {"drop_client": False}}),
    )


def loader(task, number):
    """Batches as flwr_datasets gives them."""
    x, y = task.data(number)
    size = task.batch_size or len(x)
    batches = zip(x.split(size), y.split(size), strict=True)
    return [{"image": images, "label": labels} for images, labels in batches]


def reply(client, parameters, number):
    arrays, count, metrics = client.fit(
        parameters_to_ndarrays(parameters), {"current_round": number}
    )
    copies = [array.copy() for array in arrays]
    return None, FitRes(Status(Code.OK, ""), ndarrays_to_parameters(copies), count, metrics)
