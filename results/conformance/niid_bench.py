"""NIID-Bench (Xtra-Computing/NIID-Bench, commit 61b901ab645e), whose folder must be the working directory.

Driven: experiments.py, its functions and then its main block, which holds the servers. Replaced: the files of data and
the models by those of the task, ``np.random.shuffle`` by its cohorts; ``compute_accuracy`` records w after every round.
Its SCAFFOLD makes c and c_k with ``init_nets``, as it makes models; here these have the task's start.
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

for name in ("torchvision", "torchvision.transforms", "model", "utils", "vggmodel", "resnetcifar"):  # models and files
    sys.modules[name] = mock.MagicMock(__all__=[])
MAIN = "if __name__ == '__main__':"
FUNCTIONS, BLOCK = Path("experiments.py").read_text(encoding="utf-8").split(MAIN)


def run(task):
    if task.algorithm not in ("FedAvg", "FedProx", "Scaffold", "FedNova"):
        raise NotImplementedError(f"NIID-Bench has no {task.algorithm}")
    if task.parameters.get("option") == 1 or task.parameters.get("server_lr", 1.0) != 1.0:
        raise NotImplementedError("SCAFFOLD has option 2 and the server rate 1 only")
    if task.algorithm == "FedNova" and task.parameters["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    if task.kind != "softmax":
        raise NotImplementedError("class labels only")
    samples, states, cohorts = [task.data(k) for k in range(task.num_clients)], [], iter(task.cohorts)
    names = {"__name__": "__main__", "mkdirs": lambda path: None, "logger": mock.MagicMock()}
    exec(compile(FUNCTIONS, "experiments.py", "exec"), names)
    labels = {k: list(y) for k, (_, y) in enumerate(samples)}

    def get_dataloader(dataset, datadir, size, test_size, indices=(0,), *noise):
        return loader(samples[indices[0]], task.batch_size), [], samples[indices[0]][1], []

    def compute_accuracy(model, data, get_confusion_matrix=False, **rest):
        if model is names.get("global_model") and not get_confusion_matrix:
            states.append(state(names, model))
        return (0.0, None) if get_confusion_matrix else 0.0

    def shuffle(clients):
        first = next(cohorts)
        clients[:] = [*first, *(k for k in range(task.num_clients) if k not in first)]

    names |= {"get_dataloader": get_dataloader, "compute_accuracy": compute_accuracy}
    names["init_nets"] = lambda config, dropout, number, args: ({k: task.model() for k in range(number)}, None, None)
    indices = {k: [k] * n for k, n in enumerate(task.sizes)}
    names["partition_data"] = lambda *_, **__: (None, labels[0], None, None, indices, labels)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        used = {"alg": task.algorithm.lower(), "lr": task.lr, "epochs": task.epochs, "comm_round": len(task.cohorts)}
        used |= {"n_parties": task.num_clients, "sample": len(task.cohorts[0]) / task.num_clients, "logdir": folder}
        used |= {"rho": task.local_momentum, "mu": task.parameters.get("mu", 0.0), "reg": 0.0, "device": "cpu"}
        words = [word for name, value in used.items() for word in (f"--{name}", str(value))]
        with (
            mock.patch("sys.argv", ["", *words]),
            mock.patch("numpy.random.shuffle", shuffle),
            contextlib.redirect_stdout(nowhere),
        ):
            exec(compile(MAIN + BLOCK, "experiments.py", "exec"), names)
    return {name: [one[name] for one in states] for name in states[0]}


def loader(samples, size):
    data = TensorDataset(*samples)
    return DataLoader(data, batch_size=size or len(data))


def state(names, model):
    answer = {"w": vector(model)}
    if "c_global" in names:
        answer |= {
            "c": vector(names["c_global"]),
            "c_clients": np.array([vector(net) for net in names["c_nets"].values()]),
        }
    return answer


def vector(model):
    return parameters_to_vector(model.parameters()).detach().numpy().copy()
