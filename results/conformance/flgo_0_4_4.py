"""FLGo (PyPI flgo 0.4.4).

Driven: ``flgo.init`` and ``run`` with the servers and clients of flgo/algorithm/{fedavg, fedprox,
scaffold, fednova, fedavgm, feddyn, qfedavg}.py and FLGo's simulator, calculator and data loader.
Replaced: the task in a folder, the model, the loss and ``sample``, which gives the cohorts of the
task; nothing is evaluated. FLGo's own options have their defaults: ``aggregate`` is "other", the
n_k-weighted mean of the cohort, but FedProx sets "uniform" itself.

Requirements: matplotlib, prettytable, ujson, pynvml with nvidia-ml-py, pyyaml, networkx, requests,
toolz; torchvision is a stub. Minutes to write: 20, most of them for the task in a folder and for
models that FLGo makes again by their class.
"""

import contextlib
import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from unittest import mock

from torch.nn.utils import parameters_to_vector
from torch.utils.data import TensorDataset

REQUIRES = ["flgo==0.4.4", "torch", "numpy"]
SHUFFLES = "the loader of FLGo draws the order of the samples"
CHANGES = {
    "cohorts": "sample returns those of the task",
    "data, model and loss": "those of the task, in a benchmark that exists in memory only",
    "evaluation": "off",
}
for name in ("torchvision", "torchvision.transforms", "torchvision.datasets"):
    sys.modules[name] = mock.MagicMock()
flgo = import_module("flgo")
BasicTaskPipe = import_module("flgo.benchmark.base").BasicTaskPipe
FModule = import_module("flgo.utils.fmodule").FModule
classification = import_module("flgo.benchmark.toolkits.cv.classification")
NAMES = ("FedAvg", "FedProx", "Scaffold", "FedNova", "FedAvgM", "FedDyn", "QFedAvg")
BENCHMARK = "conformance_benchmark"


def run(task):
    if task.algorithm not in NAMES:
        raise NotImplementedError(f"FLGo has no {task.algorithm}")
    if task.parameters.get("option") == 1:
        raise NotImplementedError("SCAFFOLD has option 2 only")
    if task.algorithm == "FedNova" and task.parameters["mu"]:
        raise NotImplementedError("FedNova has no proximal term")
    if task.algorithm == "FedAvgM" and task.parameters["server_lr"] != 1:
        raise NotImplementedError("FedAvgM has the server rate 1 only")
    states = []
    with tempfile.TemporaryDirectory() as folder, quiet():
        Path(folder, "info").write_text(json.dumps({"benchmark": BENCHMARK}), encoding="utf-8")
        with mock.patch.dict(sys.modules, benchmark_of(task)), mock.patch("sys.argv", [""]):
            runner = flgo.init(
                folder, algorithm_of(task, states), options(task), model=global_model(task)
            )
        runner.run()
    return {key: [one[key] for one in states] for key in states[0]}


@contextlib.contextmanager
def quiet():
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def algorithm_of(task, states):
    """FLGo's server and client, with the cohorts of the task; ``states`` gets w of every round."""
    module = import_module(f"flgo.algorithm.{task.algorithm.lower()}")
    cohorts = iter(task.cohorts)

    class Server(module.Server):
        def sample(self):
            return list(next(cohorts))

        def global_lr_scheduler(self, current_round):
            super().global_lr_scheduler(current_round)
            state = {"w": vector(self.model)}
            if hasattr(self, "cg"):
                state["c"] = vector(self.cg)
                zero = self.cg.zeros_like()
                state["c_clients"] = [vector(one.c or zero) for one in self.clients]
            states.append(state)

    client = type("Client", (module.Client,), {})
    return type("Algorithm", (), {"Server": Server, "Client": client})


def options(task):
    settings = task.parameters
    own = {
        "FedProx": ["mu"],
        "Scaffold": ["server_lr"],
        "FedAvgM": ["beta"],
        "FedDyn": ["mu"],
        "QFedAvg": ["q"],
    }
    return {
        "num_rounds": len(task.cohorts),
        "num_epochs": task.epochs,
        "batch_size": task.batch_size or -1,
        "learning_rate": task.lr,
        "momentum": task.local_momentum,
        "proportion": len(task.cohorts[0]) / task.num_clients,
        "algo_para": [settings[key] for key in own.get(task.algorithm, [])],
        "eval_interval": 0,
        "no_log_console": True,
        "no_tqdm": True,
    }


def benchmark_of(task):
    """What FLGo imports as the benchmark of a task: how data are loaded and losses computed."""
    names = [f"client_{k}" for k in range(task.num_clients)]

    class TaskPipe(BasicTaskPipe):
        def __init__(self, task_path):
            super().__init__(task_path)
            self.feddata = {"client_names": names}

        def load_data(self, running_time_option):
            return {name: {"train": TensorDataset(*task.data(k))} for k, name in enumerate(names)}

    class TaskCalculator(classification.GeneralCalculator):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.set_criterion(task.loss)

    core = ModuleType(f"{BENCHMARK}.core")
    core.TaskPipe = TaskPipe
    core.TaskCalculator = TaskCalculator
    return {BENCHMARK: ModuleType(BENCHMARK), core.__name__: core}


def global_model(task):
    """The task's model; FLGo makes further ones by calling the class."""

    class Model(FModule):
        def __init__(self):
            super().__init__()
            self.net = task.model()

        def forward(self, x):
            return self.net(x)

    class Module:
        @staticmethod
        def init_global_module(party):
            if "Server" in party.get_classname():
                party.model = Model()

    return Module


def vector(model):
    return parameters_to_vector(model.parameters()).detach().numpy().copy()
