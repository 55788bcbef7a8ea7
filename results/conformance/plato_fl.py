"""Plato (TL-System/plato, commit 60d6779a0be1), with its folder and examples/customized_client_
training/{fedprox, scaffold, feddyn} on PYTHONPATH.

Driven: the servers' ``_process_reports``, the clients' ``_payload_to_arrive`` and
``_handle_payload`` with their callbacks and processors, and the trainers' loop, in one process;
what passes between them is copied. Replaced: the model, the loss, the data source, the sampler, the
configuration, and the sockets. Each client has an object of its own. Changed from the
configuration: ``do_test`` is false.

Requirements: pyyaml. Plato asks for Python 3.12; what is driven here runs with 3.11.
Packages for sockets, data sets, losses and networks are stubs. Minutes to write: 25, most of them
to find the calls between the sockets.
"""

import asyncio
import copy
import sys
import tempfile
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch.utils.data import SequentialSampler, TensorDataset

REQUIRES = ["torch", "numpy", "pyyaml"]
SOURCE = "https://github.com/TL-System/plato @ 60d6779a0be1"
ON_PATH = [
    ".",
    "examples/customized_client_training/fedprox",
    "examples/customized_client_training/scaffold",
    "examples/customized_client_training/feddyn",
]
CHANGES = {
    "sockets": "the calls between clients and server are made in one process",
    "loss": "CrossEntropyLoss and Plato's loss are that of the task",
    "sampler": "in order, in place of a random one",
    "precision": "the model is float32",
    "do_test": "false",
    "batch size": "where the task has none, it is the largest number of samples",
}
STUBS = """aiohttp boto3 botocore botocore.exceptions lightly lightly.loss socketio timm zstd
    timm.scheduler timm.optim torch_optimizer plato.client plato.models.registry
    plato.datasources.registry plato.samplers.registry plato.samplers.all_inclusive
    plato.algorithms.registry plato.trainers.registry plato.processors.registry plato.utils.s3"""
for name in STUBS.split():
    sys.modules[name] = mock.MagicMock()
for name in ("AsyncClientNamespace", "AsyncNamespace"):
    setattr(sys.modules["socketio"], name, object)
Config = import_module("plato.config").Config
Config._instance = object.__new__(Config)
Config.server = SimpleNamespace(port=0)  # read when the servers are imported
Algorithm = import_module("plato.algorithms.fedavg").Algorithm
Pipeline = import_module("plato.processors.pipeline").Processor
basic = import_module("plato.trainers.basic")
fedavg = import_module("plato.servers.fedavg")
simple = import_module("plato.clients.simple")


def run(task):
    parts = {"FedAvg": fedavg_parts, "FedProx": fedprox_parts}
    parts |= {"Scaffold": scaffold_parts, "FedDyn": feddyn_parts}
    if task.algorithm not in parts:
        raise NotImplementedError(f"Plato has no {task.algorithm}")
    if task.parameters.get("option") == 1 or task.parameters.get("server_lr", 1.0) != 1.0:
        raise NotImplementedError("SCAFFOLD has option 2 and the server rate 1 only")
    if task.kind == "batchnorm":
        raise NotImplementedError("the adapter has no buffers of batch normalisation")
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("torch.nn.CrossEntropyLoss", lambda: task.loss),
        mock.patch("plato.trainers.loss_criterion.get", lambda: task.loss),
        mock.patch("plato.processors.registry.get", lambda *_, **__: (Pipeline([]), Pipeline([]))),
        mock.patch("plato.trainers.optimizers.get", lambda model: sgd(task, model)),
    ):
        configure(task, folder)
        return asyncio.run(training(task, *parts[task.algorithm]()))


def fedavg_parts():
    return fedavg.Server, simple.Client, basic.Trainer, []


def fedprox_parts():
    return fedavg.Server, simple.Client, import_module("fedprox_trainer").Trainer, []


def feddyn_parts():
    return fedavg.Server, simple.Client, import_module("feddyn_trainer").Trainer, []


def scaffold_parts():
    return (
        import_module("scaffold_server").Server,
        import_module("scaffold_client").Client,
        import_module("scaffold_trainer").Trainer,
        [import_module("scaffold_callback").ScaffoldCallback],
    )


def sgd(task, model):
    return torch.optim.SGD(model.parameters(), lr=task.lr, momentum=task.local_momentum)


def configure(task, folder):
    """What Plato reads from its file."""
    mu = task.parameters.get("mu", 0.0)
    sections = {
        "clients": {
            "total_clients": task.num_clients,
            "per_round": len(task.cohorts[0]),
            "comm_simulation": False,
            "do_test": False,
            "proximal_term_penalty_constant": mu,
        },
        "server": {"do_test": False},
        "data": {},
        "trainer": {
            "model_name": "model",
            "rounds": len(task.cohorts),
            "epochs": task.epochs,
            "batch_size": task.batch_size or max(task.sizes),
        },
        "algorithm": {"type": "fedavg", "alpha_coef": mu},
    }
    for name, section in sections.items():
        setattr(Config, name, Config.namedtuple_from_dict(section))
    Config.args = SimpleNamespace(cpu=True, port=None, id=None)
    paths = dict.fromkeys(("model_path", "checkpoint_path", "result_path"), folder)
    Config.params = {"run_id": 0, "result_types": "round", **paths}


async def training(task, new_server, new_client, new_trainer, callbacks):
    model = lambda: task.model(torch.float32)  # noqa: E731  Plato calls its class of models
    server = new_server(model=model, trainer=new_trainer, algorithm=Algorithm)
    server.init_trainer()
    clients = [
        new_client(
            model=model,
            datasource=lambda k=k: source(task, k),
            algorithm=Algorithm,
            trainer=new_trainer,
            callbacks=callbacks,
        )
        for k in range(task.num_clients)
    ]
    states = []
    for number, cohort in enumerate(task.cohorts, start=1):
        payload = server.customize_server_payload(server.algorithm.extract_weights())
        server.updates = [await reply(clients[k], task, k, number, payload) for k in cohort]
        await server._process_reports()
        states.append(state_of(server))
    return {key: [one[key] for one in states] for key in states[0]}


async def reply(client, task, k, number, payload):
    """What the client sends to the server."""
    client.sio = mock.AsyncMock()
    sent = []

    async def send(outbound):
        sent.append(copy.deepcopy(outbound))

    client._send = send
    sampler = SimpleNamespace(
        get=lambda: SequentialSampler(range(task.sizes[k])), num_samples=lambda: task.sizes[k]
    )
    with mock.patch("plato.samplers.registry.get", lambda *_, **__: sampler):
        await client._payload_to_arrive({"current_round": number, "id": k + 1})
        await client._handle_payload(copy.deepcopy(payload))
    return SimpleNamespace(report=client._report, payload=sent[0], client_id=k + 1)


def source(task, k):
    data = TensorDataset(*task.data(k, torch.float32))
    return SimpleNamespace(get_train_set=lambda: data, num_train_examples=lambda: len(data))


def state_of(server):
    state = {"w": flat(server.algorithm.extract_weights())}
    if hasattr(server, "server_control_variate"):
        state["c"] = flat(server.server_control_variate)
    return state


def flat(weights):
    return np.concatenate([value.reshape(-1).numpy() for value in weights.values()])
