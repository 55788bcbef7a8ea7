"""fluke (PyPI fluke-fl 0.8.1), with its algorithms' own loop, clients, servers and channel.

Driven: ``run`` of fluke/algorithms/{fedavg, fedprox, scaffold, fednova, fedavgm, fedopt,
feddyn}.py. Replaced: the data splitter, the model, the loss and ``get_eligible_clients``, which
gives the cohorts of the task; nothing is evaluated. Changed from the defaults: ``weighted`` is
false for SCAFFOLD and FedDyn, ``clipping`` is 0 for FedDyn, and the loaders keep batches of one
sample. With SKIP_SINGLETON=1 in the environment they drop them, as fluke's own data splitter does.

Requirements: diskcache, omegaconf with antlr4-python3-runtime 4.9 and pyyaml, rich, cerberus,
torchmetrics with lightning-utilities, matplotlib, seaborn, pandas, psutil, scikit-learn;
torchvision and datasets, for data sets and networks, are stubs. Minutes to write: 20, most of them
to find how the configuration reaches clients and servers.
"""

import contextlib
import os
import sys
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector

REQUIRES = ["fluke-fl==0.8.1"]
CHANGES = {
    "data": "the data splitter returns the samples of the task",
    "cohorts": "get_eligible_clients returns those of the task",
    "weighted": "false for SCAFFOLD and FedDyn, in place of true",
    "clipping": "0 for FedDyn",
    "skip_singleton": "false in place of true: batches of one sample are kept",
    "evaluation": "off",
}
STUBS = ("torchvision", "torchvision.datasets", "torchvision.datasets.utils", "datasets")
for name in (*STUBS, "torchvision.models", "torchvision.transforms"):
    sys.modules[name] = mock.MagicMock()
fluke = import_module("fluke")
FastDataLoader = import_module("fluke.data").FastDataLoader
FederationObserver = import_module("fluke.utils").FederationObserver

SKIP_SINGLETON = bool(os.environ.get("SKIP_SINGLETON"))
CLASSES = {
    "FedAvg": ("fedavg", "FedAVG"),
    "FedProx": ("fedprox", "FedProx"),
    "Scaffold": ("scaffold", "SCAFFOLD"),
    "FedNova": ("fednova", "FedNova"),
    "FedAvgM": ("fedavgm", "FedAVGM"),
    "FedAdam": ("fedopt", "FedOpt"),
    "FedYogi": ("fedopt", "FedOpt"),
    "FedAdagrad": ("fedopt", "FedOpt"),
    "FedDyn": ("feddyn", "FedDyn"),
}


def run(task):
    if task.algorithm not in CLASSES:
        raise NotImplementedError(f"fluke has no {task.algorithm}")
    if task.parameters.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    if task.algorithm == "FedNova" and task.parameters["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    fluke.FlukeENV().set_eval_cfg(pre_fit=False, post_fit=False, locals=False, server=False)
    module, name = CLASSES[task.algorithm]
    algorithm = getattr(import_module(f"fluke.algorithms.{module}"), name)(
        task.num_clients, SimpleNamespace(assign=lambda *_: loaders(task)), settings(task)
    )
    cohorts = iter(task.cohorts)
    algorithm.server.get_eligible_clients = lambda _: [algorithm.clients[k] for k in next(cohorts)]
    recorder = Recorder(algorithm)
    algorithm.attach(recorder)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        algorithm.run(len(task.cohorts), len(task.cohorts[0]) / task.num_clients)
    return {key: [one[key] for one in recorder.states] for key in recorder.states[0]}


def loaders(task):
    """What fluke's ``DataSplitter.assign`` returns: training and test sets, and the server's."""
    size = task.batch_size or 0  # 0: all samples
    sets = [
        FastDataLoader(*task.data(k), num_labels=3, batch_size=size, skip_singleton=SKIP_SINGLETON)
        for k in range(task.num_clients)
    ]
    return (sets, [None] * task.num_clients), None


def settings(task):
    """fluke's configuration of model, clients and server."""
    given = task.parameters
    client = {
        "batch_size": task.batch_size or 0,
        "local_epochs": task.epochs,
        "loss": lambda: task.loss,
        "optimizer": fluke.DDict(name="SGD", lr=task.lr, momentum=task.local_momentum),
        "scheduler": fluke.DDict(name="StepLR", step_size=1, gamma=1),
    }
    server = {"weighted": True}
    if task.algorithm == "FedProx":
        client["mu"] = given["mu"]
    elif task.algorithm == "Scaffold":
        server = {"weighted": False, "global_step": given["server_lr"]}
    elif task.algorithm == "FedAvgM":
        server |= {"momentum": given["beta"], "lr": given["server_lr"]}
    elif task.algorithm in ("FedAdam", "FedYogi", "FedAdagrad"):
        names = {"lr": "server_lr", "beta1": "beta1", "beta2": "beta2", "tau": "tau"}
        server |= {own: given[name] for own, name in names.items() if name in given}
        server["mode"] = task.algorithm.removeprefix("Fed").lower()
    elif task.algorithm == "FedDyn":
        client |= {"alpha": given["mu"], "clipping": 0}
        server = {"weighted": False, "alpha": given["mu"]}
    return fluke.DDict(
        model=task.model(), client=fluke.DDict(**client), server=fluke.DDict(**server)
    )


class Recorder(FederationObserver):
    """Keeps w, and for SCAFFOLD c and c_k, after every round."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.states = []

    def end_round(self, round):
        server = self.algorithm.server
        # FedDyn sends another model than the mean of the clients
        model = getattr(server, "cld_mdl", server.model)
        state = {"w": parameters_to_vector(model.parameters()).detach().numpy().copy()}
        if hasattr(server, "control"):
            state["c"] = flat(server.control)
            zero = np.zeros_like(state["c"])
            controls = [getattr(client, "control", None) for client in self.algorithm.clients]
            state["c_clients"] = np.array([zero if c is None else flat(c) for c in controls])
        self.states.append(state)


def flat(state):
    return torch.cat([value.reshape(-1) for value in state.values()]).numpy().copy()
