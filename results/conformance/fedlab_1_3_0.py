"""FedLab's release (PyPI fedlab 1.3.0). See fedlab.py for its main branch.

Driven: ``StandalonePipeline`` with the handlers and serial trainers of
fedlab/contrib/algorithm/{fedavg, fedprox, scaffold, fednova, feddyn, qfedavg}.py, with their
default options. Patched: ``random.sample`` draws the cohorts of the task, the attribute
``criterion`` is its loss, and ``evaluate`` records. In FedLab the data set is the user's. The
release has no serial trainer for q-FedAvg: its ``qFedAvgClientTrainer`` trains one client after
the other. It reads an ``lr`` that FedLab does not set; the adapter
sets it. torchvision, pynvml and munch,
for data sets and GPUs, are stubs.

Requirements: pandas, pillow, scikit-learn, tqdm. Minutes to write: 10, with the adapter of the main
branch as a start.
"""

import sys
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["fedlab==1.3.0", "torch", "numpy", "pandas", "pillow", "scikit-learn", "tqdm"]
CHANGES = {
    "cohorts": "random.sample draws those of the task",
    "loss": "the attribute criterion is the loss of the task",
    "batch size": "where the task has none, a client gets the number of its samples",
    "q-FedAvg": "the adapter sets the attribute lr, which the release reads and never sets",
}
for name in ("torchvision", "torchvision.transforms", "pynvml", "munch"):
    sys.modules[name] = mock.MagicMock()
PARTS = {
    "FedAvg": ("fedavg", "FedAvg"),
    "FedProx": ("fedprox", "FedProx"),
    "Scaffold": ("scaffold", "Scaffold"),
    "FedNova": ("fednova", "FedNova"),
    "FedDyn": ("feddyn", "FedDyn"),
    "QFedAvg": ("qfedavg", "qFedAvg"),
}
StandalonePipeline = import_module("fedlab.core.standalone").StandalonePipeline


def run(task):
    name = task.algorithm
    settings = task.parameters
    if name not in PARTS:
        raise NotImplementedError(f"FedLab 1.3.0 has no {name}")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    if settings.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    if name == "FedNova" and settings["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    handler, trainer = parts(task)
    if name in ("Scaffold", "FedDyn"):
        handler.setup_optim(settings["server_lr" if name == "Scaffold" else "mu"])
    elif name == "FedNova":
        handler.setup_optim()
    own = [settings[key] for key in ("mu", "q") if key in settings and name != "FedNova"]
    trainer.setup_optim(task.epochs, task.batch_size, task.lr, *own)
    trainer.criterion = task.loss
    trainer.setup_dataset(SimpleNamespace(get_dataloader=lambda k, size: loader(task, k, size)))
    pipeline = Recorder(handler, trainer)
    with mock.patch("random.sample", side_effect=task.cohorts):
        pipeline.main()
    return {key: [one[key] for one in pipeline.states] for key in pipeline.states[0]}


def parts(task):
    """The handler of the server and the trainer of all clients."""
    module, prefix = PARTS[task.algorithm]
    module = import_module(f"fedlab.contrib.algorithm.{module}")
    share = task.clients_per_round / task.num_clients
    handler = getattr(module, f"{prefix}ServerHandler")(task.model(), len(task.cohorts), share)
    if task.algorithm != "QFedAvg":
        new = getattr(module, f"{prefix}SerialClientTrainer")
        return handler, new(task.model(), task.num_clients)
    trainer = one_after_another(module.qFedAvgClientTrainer)(task.model(), logger=mock.MagicMock())
    trainer.num_clients = task.num_clients
    trainer.lr = task.lr
    return handler, trainer


def one_after_another(trainer):
    """The trainer of one client, with the interface of FedLab's serial trainers."""

    class Serial(trainer):
        def local_process(self, payload, id_list):
            self.packs = []
            for client in id_list:
                super().local_process(payload, client)
                self.packs.append(super().uplink_package)

        @property
        def uplink_package(self):
            return self.packs

    return Serial


def loader(task, client, batch_size):
    """As in FedLab's own data sets."""
    data = TensorDataset(*task.data(client))
    return DataLoader(data, batch_size=len(data) if batch_size is None else batch_size)


class Recorder(StandalonePipeline):
    """Keeps w, and for SCAFFOLD c and c_k, after every round."""

    def evaluate(self):
        state = {"w": self.handler.model_parameters.numpy()}
        if hasattr(self.handler, "global_c"):
            zero = torch.zeros_like(self.handler.global_c)
            state["c"] = self.handler.global_c.numpy().copy()
            state["c_clients"] = np.array(
                [(zero if c is None else c).numpy() for c in self.trainer.cs]
            )
        self.states = [*getattr(self, "states", []), state]
