"""APPFL (PyPI appfl 1.12.0).

Driven: its trainers VanillaTrainer and FedProxTrainer, SyncScheduler, and the aggregators
FedAvgAggregator, FedAvgMAggregator, FedAdamAggregator, FedYogiAggregator and FedAdagradAggregator,
in one process.
Replaced: the model, the loss and the data set; the clients that train are the task's cohorts.
Changed from the defaults: ``client_weights_mode`` "sample_size", which is "equal" if it is left
out; ``train_data_shuffle`` false.

Requirements: omegaconf with antlr4-python3-runtime 4.9 and pyyaml, opacus, colorama; wandb and the
packages that compress are stubs. Minutes to write: 15, most of them waiting: APPFL collects
garbage in every step.
"""

import gc
import sys
from importlib import import_module
from unittest import mock

from omegaconf import DictConfig
from torch.nn.utils import parameters_to_vector
from torch.utils.data import TensorDataset

REQUIRES = ["appfl==1.12.0", "torch", "numpy"]
CHANGES = {
    "client_weights_mode": "sample_size in place of equal",
    "train_data_shuffle": "false",
    "cohorts": "the clients that train are those of the task",
    "batch size": "where the task has none, a client gets the number of its samples",
    "garbage": "gc.freeze, because APPFL collects garbage in every step",
}
for name in ("wandb", "blosc", "xz", "zfpy", "torchvision", "torchvision.transforms"):
    sys.modules.setdefault(name, mock.MagicMock())
aggregators = import_module("appfl.algorithm.aggregator")
schedulers = import_module("appfl.algorithm.scheduler")
trainers = import_module("appfl.algorithm.trainer")
NAMES = {
    "FedAvg": "FedAvgAggregator",
    "FedProx": "FedAvgAggregator",
    "FedAvgM": "FedAvgMAggregator",
    "FedAdam": "FedAdamAggregator",
    "FedYogi": "FedYogiAggregator",
    "FedAdagrad": "FedAdagradAggregator",
}
SETTINGS = {
    "beta": "server_momentum_param_1",
    "beta1": "server_momentum_param_1",
    "beta2": "server_momentum_param_2",
    "tau": "server_adapt_param",
    "server_lr": "server_learning_rate",
}


def run(task):
    if task.algorithm not in NAMES:
        raise NotImplementedError(f"APPFL has no {task.algorithm}")
    if task.algorithm == "FedAvgM" and task.parameters["server_lr"] != 1:
        raise NotImplementedError("FedAvgM has the server rate 1 only")
    gc.freeze()  # APPFL collects garbage in every step, which is slow with all that was imported
    model = task.model()
    settings = {SETTINGS[key]: value for key, value in task.parameters.items() if key != "mu"}
    aggregator = getattr(aggregators, NAMES[task.algorithm])(
        model, DictConfig({"client_weights_mode": "sample_size", **settings}), mock.MagicMock()
    )
    scheduler = schedulers.SyncScheduler(
        DictConfig({"num_clients": task.num_clients}), aggregator, mock.MagicMock()
    )
    clients = [trainer_of(task, k) for k in range(task.num_clients)]
    for k, size in enumerate(task.sizes):
        aggregator.set_client_sample_size(k, size)
    after = []
    for number, cohort in enumerate(task.cohorts):
        scheduler.set_num_clients(len(cohort))
        received = aggregator.get_parameters()
        for k in cohort:
            clients[k].load_parameters(received)
            clients[k].train(round=number)
            local_model, _ = clients[k].get_parameters()  # and results of its validation
            scheduler.schedule(k, local_model)
        after.append(parameters_to_vector(model.parameters()).detach().numpy().copy())
    return after


def trainer_of(task, client):
    """APPFL's trainer of one client."""
    data = TensorDataset(*task.data(client))
    configs = {
        "mode": "epoch",
        "num_local_epochs": task.epochs,
        "train_batch_size": task.batch_size or len(data),
        "train_data_shuffle": False,
        "optim": "SGD",
        "optim_args": {"lr": task.lr, "momentum": task.local_momentum},
        "mu": task.parameters.get("mu"),
        "device": "cpu",
    }
    new = trainers.FedProxTrainer if task.algorithm == "FedProx" else trainers.VanillaTrainer
    return new(
        model=task.model(),
        loss_fn=task.loss,
        metric=lambda true, predicted: 0.0,
        train_dataset=data,
        train_configs=DictConfig(configs),
        logger=mock.MagicMock(),
    )
