"""BlazeFL (kitsuyaazuma/BlazeFL, commit 2390a155a3a2, version 1.1.0), with its folder ``src`` on
PYTHONPATH.

Driven: FedAvgServerHandler and FedAvgSerialClientTrainer of blazefl/contrib/fedavg.py, in the loop
of its example quickstart-fedavg. Replaced: the model, the data set, the attribute ``criterion`` by
the task's loss, and ``random.sample`` by its cohorts. In BlazeFL the data set is the user's.

Requirements: tqdm. BlazeFL asks for Python 3.12, its newer releases for 3.14; what is driven here
runs with 3.11. Minutes to write: 5. This file has the name of the package: run it from another
folder.
"""

import contextlib
import os
from types import SimpleNamespace
from unittest import mock

from blazefl.contrib.fedavg import FedAvgSerialClientTrainer, FedAvgServerHandler
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["torch", "numpy", "tqdm"]
SOURCE = "https://github.com/kitsuyaazuma/BlazeFL @ 2390a155a3a2"
ON_PATH = ["src"]
CHANGES = {
    "cohorts": "random.sample draws those of the task",
    "loss": "the attribute criterion is the loss of the task",
    "batch size": "where the task has none, a client gets the number of its samples",
}


def run(task):
    if task.algorithm != "FedAvg":
        raise NotImplementedError(f"BlazeFL has no {task.algorithm}")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    selector = SimpleNamespace(select_model=lambda name: task.model())
    dataset = SimpleNamespace(
        get_dataloader=lambda type_, cid, batch_size: loader(task, cid, batch_size)
    )
    share = task.clients_per_round / task.num_clients
    size = task.batch_size
    handler = FedAvgServerHandler(
        selector, "", dataset, len(task.cohorts), task.num_clients, share, "cpu", size
    )
    trainer = FedAvgSerialClientTrainer(
        selector, "", dataset, "cpu", task.num_clients, task.epochs, size, task.lr
    )
    trainer.criterion = task.loss
    after = []
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stderr(nowhere),
        mock.patch("random.sample", side_effect=task.cohorts),
    ):
        while not handler.if_stop():
            cohort = handler.sample_clients()
            trainer.local_process(handler.downlink_package(), cohort)
            for package in trainer.uplink_package():
                handler.load(package)
            after.append(parameters_to_vector(handler.model.parameters()).detach().numpy().copy())
    return after


def loader(task, client, size):
    data = TensorDataset(*task.data(client))
    return DataLoader(data, batch_size=size or len(data))
