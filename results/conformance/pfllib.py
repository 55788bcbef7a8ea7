"""PFLlib (TsingZ0/PFLlib, commit d832e76f6a23b833038949ec1e4fdefe63a4d350), with its folder
``system`` on PYTHONPATH.

Driven: ``train`` of flcore/servers/server{avg,prox,scaffold,dyn}.py, with their clients, optimisers
and data loader. Patched: the files of data are the task's samples, the draw of clients its cohorts,
the attribute ``loss`` its loss; ``evaluate`` records, and nothing is saved. Local training, upload
and aggregation are PFLlib's own. Where the task has no batch size, a client gets n_k.

Requirements: h5py, matplotlib, scikit-learn.
"""

import argparse
import contextlib
import os

from flcore.clients import clientbase
from flcore.servers import serverbase
from flcore.servers.serveravg import FedAvg
from flcore.servers.serverdyn import FedDyn
from flcore.servers.serverprox import FedProx
from flcore.servers.serverscaffold import SCAFFOLD
from torch.nn.utils import parameters_to_vector

REQUIRES = ["torch", "torchvision", "numpy", "scikit-learn", "h5py", "ujson", "pynvml"]
SOURCE = "https://github.com/TsingZ0/PFLlib @ d832e76f6a23b833038949ec1e4fdefe63a4d350"
ON_PATH = ["system"]
SHUFFLES = "the loader of PFLlib draws the order of the samples"
CHANGES = {
    "batch size": "where the task has none, a client gets the number of its samples",
    "loss": "the attribute loss is the loss of the task",
    "cohorts": "select_clients returns those of the task",
}
SERVERS = {"FedAvg": FedAvg, "FedProx": FedProx, "Scaffold": SCAFFOLD, "FedDyn": FedDyn}
UNUSED = """few_shot random_join_ratio time_select top_cnt auto_break client_drop_rate
    train_slow_rate send_slow_rate dlg_eval dlg_gap batch_num_per_client num_new_clients
    fine_tuning_epoch_new learning_rate_decay num_classes"""


def run(task):
    if task.algorithm not in SERVERS:
        raise NotImplementedError(f"PFLlib has no {task.algorithm}")
    if task.local_momentum:
        raise NotImplementedError("the local optimiser has no momentum")
    if task.parameters.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    clientbase.read_client_data = serverbase.read_client_data = lambda _, k, **__: list(
        zip(*task.data(k), strict=True)
    )
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        server = SERVERS[task.algorithm](settings(task), 0)
        for client in server.clients:
            client.loss = task.loss
            client.batch_size = task.batch_size or client.train_samples
        cohorts = iter(task.cohorts)
        states = []
        server.select_clients = lambda: [server.clients[k] for k in next(cohorts)]
        # before every round
        server.evaluate = lambda: (states.append(state(server)), server.rs_test_acc.append(0))
        server.save_results = server.save_global_model = lambda: None
        server.train()
    states = [*states[1:], state(server)]
    return {name: [one[name] for one in states] for name in states[0]}


def settings(task):
    """PFLlib's command line. It makes one round more than ``global_rounds``."""
    used = {
        "model": task.model(),
        "num_clients": task.num_clients,
        "join_ratio": task.clients_per_round / task.num_clients,
        "global_rounds": len(task.cohorts) - 1,
        "local_epochs": task.epochs,
        "batch_size": task.batch_size,
        "local_learning_rate": task.lr,
        "learning_rate_decay_gamma": 1.0,
        "server_learning_rate": task.parameters.get("server_lr"),
        "mu": task.parameters.get("mu"),  # of FedProx
        "alpha": task.parameters.get("mu"),  # of FedDyn
        "eval_gap": 1,
        "time_threthold": float("inf"),
    }
    texts = {"device": "cpu", "dataset": "", "algorithm": "", "goal": "", "save_folder_name": ""}
    return argparse.Namespace(**dict.fromkeys(UNUSED.split(), 0) | texts | used)


def state(server):
    """w, and for SCAFFOLD c and c_k."""
    result = {"w": vector(server.global_model.parameters())}
    if isinstance(server, SCAFFOLD):
        result |= {
            "c": vector(server.global_c),
            "c_clients": [vector(client.client_c) for client in server.clients],
        }
    return result


def vector(tensors):
    return parameters_to_vector(tensors).detach().numpy().copy()
