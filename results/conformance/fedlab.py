"""FedLab (SMILELab-FL/FedLab, commit 92552a742debc9d7bcf06378720c92fe90e15aa3), with its source on
PYTHONPATH.

Driven: ``StandalonePipeline`` with the handlers and serial trainers of
fedlab/contrib/algorithm/{fedavg, fedprox, scaffold, fednova, fedavgm, fedopt, feddyn, qfedavg}.py,
with their default options, and ``RandomSampler``. Patched: ``np.random.choice`` draws the cohorts
of the task, the attribute ``criterion`` is its loss, and ``evaluate`` records. In FedLab the data
set is the user's. torchvision and pynvml, for data sets and GPUs, are stubs; and utils_algorithms
is put where fedavgm.py looks for it. Run it from another folder: this file has the name of the
package.

Requirements: pandas, pillow, scikit-learn, seaborn with matplotlib, tqdm.
"""

import contextlib
import os
import sys
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["torch", "numpy", "pandas", "seaborn", "munch", "tqdm", "scikit-learn"]
SOURCE = "https://github.com/SMILELab-FL/FedLab @ 92552a742debc9d7bcf06378720c92fe90e15aa3"
ON_PATH = ["."]
CHANGES = {
    "cohorts": "np.random.choice draws those of the task",
    "loss": "the attribute criterion is the loss of the task",
    "batch size": "where the task has none, a client gets the number of its samples",
}
for name in ("torchvision", "pynvml"):
    sys.modules[name] = mock.MagicMock()
ALGORITHMS = "fedlab.contrib.algorithm."
fedavg, feddyn, fednova, fedopt = (
    import_module(ALGORITHMS + one) for one in ("fedavg", "feddyn", "fednova", "fedopt")
)
fedprox, qfedavg, scaffold = (
    import_module(ALGORITHMS + one) for one in ("fedprox", "qfedavg", "scaffold")
)
sys.modules["utils_algorithms"] = import_module(ALGORITHMS + "utils_algorithms")
fedavgm = import_module(ALGORITHMS + "fedavgm")
RandomSampler = import_module("fedlab.contrib.client_sampler.uniform_sampler").RandomSampler
StandalonePipeline = import_module("fedlab.core.standalone").StandalonePipeline

PARTS = {
    "FedAvg": (fedavg.FedAvgServerHandler, fedavg.FedAvgSerialClientTrainer),
    "FedProx": (fedprox.FedProxServerHandler, fedprox.FedProxSerialClientTrainer),
    "Scaffold": (scaffold.ScaffoldServerHandler, scaffold.ScaffoldSerialClientTrainer),
    "FedNova": (fednova.FedNovaServerHandler, fednova.FedNovaSerialClientTrainer),
    "FedAvgM": (fedavgm.FedAvgMServerHandler, fedavg.FedAvgSerialClientTrainer),
    "FedAdam": (fedopt.FedOptServerHandler, fedavg.FedAvgSerialClientTrainer),
    "FedYogi": (fedopt.FedOptServerHandler, fedavg.FedAvgSerialClientTrainer),
    "FedDyn": (feddyn.FedDynServerHandler, feddyn.FedDynSerialClientTrainer),
    "QFedAvg": (qfedavg.qFedAvgServerHandler, qfedavg.qFedAvgSerialClientTrainer),
}


def run(task):
    name = task.algorithm
    settings = task.parameters
    check_offered(task)
    new_handler, new_trainer = PARTS[name]
    share = task.clients_per_round / task.num_clients
    handler = new_handler(
        task.model(), len(task.cohorts), num_clients=task.num_clients, sample_ratio=share
    )
    if name in ("Scaffold", "FedDyn"):
        handler.setup_optim(settings["server_lr" if name == "Scaffold" else "mu"])
    elif name == "FedNova":
        handler.setup_optim()
    elif name in ("FedAvgM", "FedAdam", "FedYogi"):
        given = {
            "glr": settings["server_lr"],
            "weights": np.array(task.sizes),
            "k": None,
            "b": settings.get("beta"),
        }
        given["option"] = name.removeprefix("Fed").lower()
        handler.setup_optim(RandomSampler(task.num_clients), SimpleNamespace(**given, **settings))
    trainer = new_trainer(task.model(), task.num_clients)
    own = [settings[key] for key in ("mu", "q") if key in settings and name != "FedNova"]
    trainer.setup_optim(task.epochs, task.batch_size, task.lr, *own)
    trainer.criterion = task.loss
    trainer.setup_dataset(SimpleNamespace(get_dataloader=lambda k, size: loader(task, k, size)))
    pipeline = Recorder(handler, trainer)
    drawn = mock.patch(
        "numpy.random.choice", side_effect=[np.array(cohort) for cohort in task.cohorts]
    )
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere), drawn:
        pipeline.main()
    return {key: [one[key] for one in pipeline.states] for key in pipeline.states[0]}


def check_offered(task):
    """Raise ``NotImplementedError`` for what FedLab does not have."""
    name = task.algorithm
    settings = task.parameters
    if name not in PARTS:
        raise NotImplementedError(f"FedLab has no {name}")
    if task.kind == "batchnorm":
        raise NotImplementedError("a model in FedLab is one vector, buffers included")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    if settings.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    if name == "FedNova" and settings["mu"]:
        raise NotImplementedError("FedNova has no proximal term")


def loader(task, client, batch_size):
    """As in FedLab's own data sets."""
    data = TensorDataset(*task.data(client))
    return DataLoader(data, batch_size=len(data) if batch_size is None else batch_size)


class Recorder(StandalonePipeline):
    """Keeps w, and for SCAFFOLD c and c_k, after every round."""

    def evaluate(self):
        state = {"w": self.handler.model_parameters.numpy()}
        if isinstance(self.handler, scaffold.ScaffoldServerHandler):
            zero = torch.zeros_like(self.handler.global_c)
            state["c"] = self.handler.global_c.numpy().copy()
            state["c_clients"] = np.array(
                [(zero if c is None else c).numpy() for c in self.trainer.cs]
            )
        self.states = [*getattr(self, "states", []), state]
