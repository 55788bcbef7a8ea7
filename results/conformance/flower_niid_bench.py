"""Flower's baseline niid_bench (adap/flower, commit fdef7afb1dca), with its folder
baselines/niid_bench on PYTHONPATH.

Driven: its client classes, training functions, strategies and servers, round by round, with flwr
1.41.0. Replaced: the network by calls, the sampled clients by the task's cohorts,
``CrossEntropyLoss`` by the task's loss. hydra and omegaconf, which read settings, are stubs, and
the names that ``flwr.common.typing`` had before are put back.

Requirements: flwr 1.41.0 with all its dependencies.
"""

import functools
import logging
import sys
import tempfile
import typing
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import flwr.common.typing
import numpy as np
import torch
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.server import Server
from flwr.server.strategy import FedAvg
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["flwr==1.41.0", "torch", "torchvision", "numpy"]
SOURCE = "https://github.com/adap/flower @ fdef7afb1dca"
ON_PATH = ["baselines/niid_bench"]
CHANGES = {
    "loss": "CrossEntropyLoss is the loss of the task",
    "weight decay": "0 in place of the baseline's setting",
    "network": "clients and server are called without one",
}
for name in ("hydra", "hydra.utils", "omegaconf"):
    sys.modules[name] = mock.MagicMock()
for name in ("Callable", "Dict", "List", "Optional", "Tuple", "Union"):
    setattr(flwr.common.typing, name, getattr(typing, name))
logging.getLogger("flwr").setLevel(logging.ERROR)
NAMES = ("FedAvg", "FedProx", "Scaffold", "FedNova")
CLIENTS = {name: import_module(f"niid_bench.client_{name.lower()}") for name in NAMES}
STRATEGIES = import_module("niid_bench.strategy")
SCAFFOLD = import_module("niid_bench.server_scaffold")
FEDNOVA = import_module("niid_bench.server_fednova")
# a newer Flower asks for it
FEDNOVA.fit_clients = functools.partial(FEDNOVA.fit_clients, group_id=0)


def check_offered(task):
    """Raise ``NotImplementedError`` for what the baseline does not have."""
    if (
        task.algorithm not in NAMES
        or task.parameters.get("option") == 1
        or task.parameters.get("server_lr", 1) != 1
    ):
        raise NotImplementedError(
            f"niid_bench has no {task.algorithm} with {dict(task.parameters)}"
        )
    if task.algorithm == "FedNova" and task.parameters["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    if task.kind == "batchnorm":
        raise NotImplementedError("a client cannot load the counter of batch normalisation")


def run(task):
    check_offered(task)
    cohorts = iter(task.cohorts)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("torch.nn.CrossEntropyLoss", lambda: task.loss),
    ):
        everybody = [Proxy(task, client, folder) for client in range(task.num_clients)]
        manager = SimpleNamespace(num_available=lambda: task.num_clients, all=lambda: everybody)
        manager.sample = lambda num_clients, min_num_clients=None: [
            everybody[k] for k in next(cohorts)
        ]
        own = {"fraction_fit": 1.0, "min_fit_clients": 1, "min_available_clients": 1}
        if task.algorithm == "Scaffold":
            server = SCAFFOLD.ScaffoldServer(STRATEGIES.ScaffoldStrategy(**own), None, manager)
            with mock.patch.object(manager, "sample", lambda number: everybody[:1]):
                server.parameters = server._get_initial_parameters(None)
        elif task.algorithm == "FedNova":
            server = FEDNOVA.FedNovaServer(
                client_manager=manager, strategy=STRATEGIES.FedNovaStrategy(**own)
            )
        else:
            server = Server(client_manager=manager, strategy=FedAvg(**own))
        if task.algorithm != "Scaffold":
            server.parameters = everybody[0].get_parameters(None, None).parameters
        answer = {"w": [], "c": []} if task.algorithm == "Scaffold" else {"w": []}
        for number in range(1, len(task.cohorts) + 1):
            server.parameters = server.fit_round(number, None)[0]
            answer["w"].append(flat(parameters_to_ndarrays(server.parameters)))
            if "c" in answer:
                answer["c"].append(flat([value.numpy() for value in server.server_cv]))
    return answer


class Proxy:
    """A client behind the interface of Flower's servers."""

    def __init__(self, task, number, folder):
        data = TensorDataset(*task.data(number, torch.float32))
        loader = DataLoader(data, batch_size=task.batch_size or len(data))
        given = {
            "net": task.model(torch.float32),
            "trainloader": loader,
            "valloader": None,
            "device": "cpu",
            "num_epochs": task.epochs,
            "learning_rate": task.lr,
            "momentum": task.local_momentum,
            "weight_decay": 0.0,
        }
        given |= {"proximal_mu": task.parameters["mu"]} if task.algorithm == "FedProx" else {}
        given |= {"cid": number, "save_dir": folder} if task.algorithm == "Scaffold" else {}
        self.client = getattr(CLIENTS[task.algorithm], f"FlowerClient{task.algorithm}")(**given)

    def get_parameters(self, ins, timeout):
        return SimpleNamespace(parameters=ndarrays_to_parameters(self.client.get_parameters({})))

    def fit(self, ins, timeout=None, group_id=None):
        arrays, number, metrics = self.client.fit(
            parameters_to_ndarrays(ins.parameters), ins.config
        )
        return FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays), number, metrics)


def flat(arrays):
    return np.concatenate([array.reshape(-1) for array in arrays])
