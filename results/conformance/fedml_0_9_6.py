"""FedML (PyPI fedml 0.9.6), its single-process simulation with PyTorch.

Driven: ``train`` of fedml/simulation/sp/{fedavg, fedprox, scaffold, fednova, feddyn}, with
their clients, trainers and aggregation. Replaced: the data set, the model, ``CrossEntropyLoss`` by
the task's loss, the sampled clients by its cohorts, and the tests, which record w. Changed from the
defaults: ``initialize_all_clients`` is true, so that each client keeps its state, and
``weight_decay`` is 0. Not driven: FedOpt, whose β and τ cannot be set. The device is the CPU.

Requirements: none beside those of fedlab_core. The package's own start, and what concerns its
platform, privacy and attacks, are stubs. Minutes to write: 15, most of them to import it without
its platform.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import torch
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["fedml==0.9.6", "torch", "numpy"]
CHANGES = {
    "initialize_all_clients": "true, so that each client keeps its state",
    "weight_decay": "0",
    "cohorts": "client_sampling returns those of the task",
    "loss": "CrossEntropyLoss is the loss of the task",
    "device": "the CPU",
    "batch size": "where the task has none, a client gets the number of its samples",
    "imports": "the parts for platform, privacy and attacks are stubs",
}
ROOT = Path(next(folder for folder in sys.path if Path(folder, "fedml").is_dir()), "fedml")
for package in ("", ".core", ".core.alg_frame", ".core.common", ".ml", ".ml.trainer", ".utils"):
    module = ModuleType(f"fedml{package}")
    module.__path__ = [str(ROOT.joinpath(*package.split(".")))]
    sys.modules[module.__name__] = module
STUBS = """wandb fedml.mlops fedml.core.security.fedml_attacker
    fedml.core.dp.fedml_differential_privacy fedml.core.fhe.fhe_agg fedml.core.security
    fedml.core.dp fedml.core.fhe fedml.ml.trainer.my_model_trainer_nwp
    fedml.ml.trainer.my_model_trainer_tag_prediction"""
for name in STUBS.split():
    sys.modules[name] = mock.MagicMock()
sys.modules["fedml"].mlops = sys.modules["fedml.mlops"]
for package in ("simulation", "simulation.sp", "ml.aggregator"):
    module = ModuleType(f"fedml.{package}")
    module.__path__ = [str(ROOT.joinpath(*package.split(".")))]
    sys.modules[module.__name__] = module
CLASSES = {
    "FedAvg": ("fedavg.fedavg_api", "FedAvgAPI", "FedAvg"),
    "FedProx": ("fedprox.fedprox_trainer", "FedProxTrainer", "FedProx"),
    "Scaffold": ("scaffold.scaffold_trainer", "ScaffoldTrainer", "SCAFFOLD"),
    "FedNova": ("fednova.fednova_trainer", "FedNovaTrainer", "FedNova"),
    "FedDyn": ("feddyn.feddyn_trainer", "FedDynTrainer", "FedDyn"),
}


def run(task):
    if task.algorithm not in CLASSES:
        raise NotImplementedError(f"FedML has no {task.algorithm}")
    if task.local_momentum and task.algorithm != "FedNova":
        raise NotImplementedError("the local optimiser has no momentum")
    if task.parameters.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    if task.algorithm == "FedAvg" and task.kind != "softmax":
        raise NotImplementedError("FedAvg has class labels only")
    module, name, optimizer = CLASSES[task.algorithm]
    api_class = getattr(import_module(f"fedml.simulation.sp.{module}"), name)
    device = torch.device("cpu")
    model = task.model()
    args = settings(task, optimizer)
    with mock.patch("torch.nn.CrossEntropyLoss", lambda: Loss(task)):
        if name == "FedAvgAPI":
            api = api_class(args, device, dataset(task), model)
        else:
            api = api_class(dataset(task), model, device, args)
        return training(task, api, model)


def training(task, api, model):
    states = []

    def record(*_):
        state = {"w": vector(model)}
        if task.algorithm == "Scaffold":
            state["c"] = vector(api.c_model_global)
            state["c_clients"] = [vector(client.c_model_local) for client in api.client_list]
        states.append(state)

    api._client_sampling = api.client_sampling = lambda number, *_: task.cohorts[number]
    nothing = lambda *_: None  # noqa: E731
    api._local_test_on_all_clients = api.local_test_on_all_clients = api.test = nothing
    if task.algorithm == "FedNova":
        api.local_test_on_all_clients = record
        api.train()
    else:  # what FedML logs at the end of a round, and once before the first
        with mock.patch.object(
            sys.modules["fedml.mlops"], "log_round_info", lambda _, n: n >= 0 and record()
        ):
            api.train()
    return {key: [one[key] for one in states] for key in states[0]}


class Loss(torch.nn.Module):
    def __init__(self, task):
        super().__init__()
        self.of_batch = task.loss

    def forward(self, output, target):
        return self.of_batch(output, target)


def settings(task, optimizer):
    return SimpleNamespace(
        federated_optimizer=optimizer,
        dataset="",
        comm_round=len(task.cohorts),
        client_num_in_total=task.num_clients,
        client_num_per_round=task.clients_per_round,
        initialize_all_clients=True,
        client_optimizer="sgd",
        learning_rate=task.lr,
        weight_decay=0.0,
        wd=0.0,
        epochs=task.epochs,
        batch_size=task.batch_size,
        frequency_of_the_test=1,
        enable_wandb=False,
        fedprox_mu=task.parameters.get("mu"),
        feddyn_alpha=task.parameters.get("mu"),
        server_lr=task.parameters.get("server_lr"),
        mu=task.parameters.get("mu", 0.0),
        momentum=task.local_momentum,
        gmf=0.0,
        dampening=0.0,
        nesterov=False,
        ml_engine_backend="torch",
    )


def dataset(task):
    """FedML's list: numbers, loaders and classes."""
    loaders = {k: loader(task, k) for k in range(task.num_clients)}
    sizes = dict(enumerate(task.sizes))
    return [sum(task.sizes), 0, None, None, sizes, loaders, loaders, 3]


def loader(task, client):
    data = TensorDataset(*task.data(client))
    return DataLoader(data, batch_size=task.batch_size or len(data))


def vector(model):
    return parameters_to_vector(model.parameters()).detach().numpy().copy()
