"""NIID-Bench (Xtra-Computing/NIID-Bench, commit 61b901ab645e), whose folder must be the working
directory.

Driven: experiments.py, its functions and then its main block, which holds the servers. Replaced:
the files of data and the models by those of the task, ``np.random.shuffle`` by its cohorts;
``compute_accuracy`` records w after every round. Its SCAFFOLD makes c and c_k with ``init_nets``,
as it makes models; here these have the task's start.

Requirements: none beside those of fedlab_core.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader, TensorDataset

REQUIRES = ["torch", "numpy", "scikit-learn"]
SOURCE = "https://github.com/Xtra-Computing/NIID-Bench @ 61b901ab645e"
WORKING = True
CHANGES = {
    "regularisation": "--reg 0 in place of 1e-5",
    "models": "those of the task, also where SCAFFOLD makes c and c_k",
    "files of data": "the samples of the task",
}
# models and files
for name in ("torchvision", "torchvision.transforms", "model", "utils", "vggmodel", "resnetcifar"):
    sys.modules[name] = mock.MagicMock(__all__=[])
MAIN = "if __name__ == '__main__':"
FUNCTIONS, BLOCK = Path("experiments.py").read_text(encoding="utf-8").split(MAIN)


def run(task):
    check_offered(task)
    states = []
    names = module_of(task, states)
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,
        mock.patch("sys.argv", ["", *command_line(task, folder)]),
        mock.patch("numpy.random.shuffle", shuffle_to(task.cohorts, task.num_clients)),
        contextlib.redirect_stdout(nowhere),
    ):
        exec(compile(MAIN + BLOCK, "experiments.py", "exec"), names)
    return {name: [state[name] for state in states] for name in states[0]}


def check_offered(task):
    """Raise ``NotImplementedError`` for what the framework does not have."""
    if task.algorithm not in ("FedAvg", "FedProx", "Scaffold", "FedNova"):
        raise NotImplementedError(f"NIID-Bench has no {task.algorithm}")
    if task.parameters.get("option") == 1 or task.parameters.get("server_lr", 1.0) != 1.0:
        raise NotImplementedError("SCAFFOLD has option 2 and the server rate 1 only")
    if task.algorithm == "FedNova" and task.parameters["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    if task.kind != "softmax":
        raise NotImplementedError("class labels only")


def module_of(task, states):
    """The framework's module, with the task's data and models; it appends to ``states``."""
    samples = [task.data(k) for k in range(task.num_clients)]
    names = {"__name__": "__main__", "mkdirs": lambda path: None, "logger": mock.MagicMock()}
    exec(compile(FUNCTIONS, "experiments.py", "exec"), names)
    labels = {k: list(y) for k, (_, y) in enumerate(samples)}

    def get_dataloader(dataset, datadir, size, test_size, indices=(0,), *noise):
        return loader(samples[indices[0]], task.batch_size), [], samples[indices[0]][1], []

    def compute_accuracy(model, data, get_confusion_matrix=False, **rest):
        if model is names.get("global_model") and not get_confusion_matrix:
            states.append(state_of(names, model))
        return (0.0, None) if get_confusion_matrix else 0.0

    names |= {"get_dataloader": get_dataloader, "compute_accuracy": compute_accuracy}
    names["init_nets"] = lambda config, dropout, number, args: (
        {k: task.model() for k in range(number)},
        None,
        None,
    )
    indices = {k: [k] * n for k, n in enumerate(task.sizes)}
    names["partition_data"] = lambda *_, **__: (None, labels[0], None, None, indices, labels)
    return names


def command_line(task, folder):
    options = {
        "alg": task.algorithm.lower(),
        "lr": task.lr,
        "epochs": task.epochs,
        "comm_round": len(task.cohorts),
        "n_parties": task.num_clients,
        "sample": task.clients_per_round / task.num_clients,
        "logdir": folder,
        "rho": task.local_momentum,
        "mu": task.parameters.get("mu", 0.0),
        "reg": 0.0,
        "device": "cpu",
    }
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def shuffle_to(cohorts, num_clients):
    """A replacement of NumPy's ``shuffle`` that puts the next cohort first."""
    following = iter(cohorts)

    def shuffle(clients):
        cohort = next(following)
        clients[:] = [*cohort, *(k for k in range(num_clients) if k not in cohort)]

    return shuffle


def loader(samples, size):
    data = TensorDataset(*samples)
    return DataLoader(data, batch_size=size or len(data))


def state_of(names, model):
    answer = {"w": vector(model)}
    if "c_global" in names:
        answer |= {
            "c": vector(names["c_global"]),
            "c_clients": np.array([vector(net) for net in names["c_nets"].values()]),
        }
    return answer


def vector(model):
    return parameters_to_vector(model.parameters()).detach().numpy().copy()
