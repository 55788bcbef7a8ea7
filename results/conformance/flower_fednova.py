"""Flower's baseline fednova (adap/flower, commit fdef7afb1dca), with its folder
baselines/fednova on PYTHONPATH.

Driven: ``gen_clients_fednova``, its clients, optimiser ProxSGD, training loop and strategy; and for
FedAvg and FedProx ``gen_clients_fedavg`` with flwr's FedAvg, as the baseline compares them. Each
round has new client objects, as in Flower's simulation. Replaced: the network by calls,
``CrossEntropyLoss`` by the task's loss, the sampled clients by its cohorts; hydra's ``instantiate``
makes the task's model and ProxSGD. Changed from the configuration: ``weight_decay`` 0 and
``lr_scheduling`` false.

Requirements: flwr 1.41.0 (the baseline asks for 1.9.0), pandas; hydra, omegaconf and matplotlib are
stubs. Minutes to write: 12.
"""

import logging
import sys
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAvg
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["flwr==1.41.0", "torch", "numpy", "pandas"]
SOURCE = "https://github.com/adap/flower @ fdef7afb1dca"
ON_PATH = ["baselines/fednova"]
CHANGES = {
    "loss": "CrossEntropyLoss is the loss of the task",
    "weight decay": "0 in place of the baseline's setting",
    "lr_scheduling": "false in place of true",
    "network": "clients and server are called without one",
    "batch size": "where the task has none, a client gets the number of its samples",
}
for name in ("hydra", "hydra.utils", "omegaconf", "matplotlib", "matplotlib.pyplot"):
    sys.modules[name] = mock.MagicMock()
logging.getLogger("flwr").setLevel(logging.ERROR)
baseline_client = import_module("fednova.baseline_client")
nova_client = import_module("fednova.client")
ProxSGD = import_module("fednova.models").ProxSGD
FedNova = import_module("fednova.strategy").FedNova
fit_config = import_module("fednova.utils").fit_config


def run(task):
    if task.algorithm not in ("FedAvg", "FedProx", "FedNova"):
        raise NotImplementedError(f"the baseline has no {task.algorithm}")
    if task.kind == "batchnorm":
        raise NotImplementedError("the adapter has no buffers of batch normalisation")
    config = configuration(task)
    model = task.model()
    start = ndarrays_to_parameters([value.detach().numpy() for value in model.parameters()])
    if task.algorithm == "FedNova":
        strategy = FedNova(config, initial_parameters=start, accept_failures=False)
    else:
        strategy = FedAvg(initial_parameters=start, accept_failures=False)
    parameters = start
    after = []
    with mock.patch("torch.nn.CrossEntropyLoss", lambda: task.loss):
        for number, cohort in enumerate(task.cohorts, start=1):
            results = [reply(task, config, k, parameters, number) for k in cohort]
            parameters, _ = strategy.aggregate_fit(number, results, [])
            arrays = parameters_to_ndarrays(parameters)
            after.append(np.concatenate([array.reshape(-1) for array in arrays]))
    return after


def configuration(task):
    """What the baseline reads from its files."""
    optimizer = SimpleNamespace(
        lr=task.lr,
        momentum=task.local_momentum,
        mu=task.parameters.get("mu", 0.0),
        gmf=0.0,
        weight_decay=0.0,
    )
    return SimpleNamespace(
        optimizer=optimizer,
        exp_name="",
        var_local_epochs=False,
        num_rounds=len(task.cohorts),
        lr_scheduling=False,
    )


def reply(task, config, client, parameters, number):
    """The answer of a new client object."""
    module = nova_client if task.algorithm == "FedNova" else baseline_client
    new = getattr(module, f"gen_clients_{'fednova' if module is nova_client else 'fedavg'}")
    module.instantiate = lambda given, **named: (
        task.model() if given == "model" else ProxSGD(**named, **vars(given))
    )
    loaders = [loader(task, k) for k in range(task.num_clients)]
    numpy_client = new(task.epochs, loaders, None, task.sizes, "model", config)(str(client))
    numpy_client = getattr(numpy_client, "numpy_client", numpy_client)
    arrays, count, metrics = numpy_client.fit(
        parameters_to_ndarrays(parameters), fit_config(config, number)
    )
    copies = [array.copy() for array in arrays]
    return None, FitRes(Status(Code.OK, ""), ndarrays_to_parameters(copies), count, metrics)


def loader(task, client):
    data = TensorDataset(*task.data(client))
    return DataLoader(data, batch_size=task.batch_size or len(data))
