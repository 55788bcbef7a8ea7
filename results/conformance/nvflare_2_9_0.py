"""NVIDIA FLARE (PyPI nvflare 2.9.0), with PyTorch.

Driven: ``run`` of its workflows FedAvg, Scaffold and FedOpt, and on the clients PTFedProxLoss and
PTScaffoldHelper, which the user calls in a loop of his own; here it is the loop of its examples.
Replaced: the network, by calls; the sampled clients, by the task's cohorts. FedAvgM and FedAdam are
FedOpt with PyTorch's SGD and Adam. Changed from the defaults: the server's learning rate is
constant. NVFlare weighs a client by the number that it sends as NUM_STEPS_CURRENT_ROUND, and by 1
where it sends none: here n_k, and none for SCAFFOLD. With NUM_STEPS=1 in the environment every
client sends its number of steps.

Requirements: cryptography with cffi, msgpack, grpcio, safetensors, pyyaml, requests, psutil,
filelock. Minutes to write: 15, most of them for the calls that stand for the network.
"""

import gc
import os
from importlib import import_module
from unittest import mock

import numpy as np
import torch
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.app_common.workflows.scaffold import Scaffold
from nvflare.app_opt.pt.fedopt_ctl import FedOpt
from nvflare.app_opt.pt.fedproxloss import PTFedProxLoss
from nvflare.app_opt.pt.scaffold import PTScaffoldHelper

REQUIRES = ["nvflare==2.9.0", "torch", "numpy", "safetensors"]
CHANGES = {
    "network": "the server's calls reach the clients without one",
    "weights": "a client sends n_k as NUM_STEPS_CURRENT_ROUND, and nothing for SCAFFOLD",
    "server's learning rate": "constant, in place of a schedule",
    "cohorts": "the sampled clients are those of the task",
    "local training": "the loop of the examples, which is the user's",
}
NUM_STEPS = bool(os.environ.get("NUM_STEPS"))


def run(task):
    if task.algorithm not in ("FedAvg", "FedProx", "Scaffold", "FedAvgM", "FedAdam"):
        raise NotImplementedError(f"NVFlare has no {task.algorithm}")
    if task.parameters.get("option") == 1 or (
        task.algorithm == "Scaffold" and task.parameters["server_lr"] != 1
    ):
        raise NotImplementedError("SCAFFOLD has option 2 and the server rate 1 only")
    if task.kind == "batchnorm":
        raise NotImplementedError("the adapter has no buffers of batch normalisation")
    gc.freeze()
    clients = [Client(task, k) for k in range(task.num_clients)]
    controller = controller_of(task, clients)
    with mock.patch("builtins.print"):
        controller.run()
    return {key: [one[key] for one in controller.states] for key in controller.states[0]}


def controller_of(task, clients):
    model = FLModel(params={name: array.copy() for name, array in arrays(task.model()).items()})
    if task.algorithm == "Scaffold":
        controller = offline(Scaffold, task, clients, model)(num_rounds=len(task.cohorts))
        controller.initialize(mock.MagicMock())
        return controller
    if task.algorithm in ("FedAvg", "FedProx"):
        return offline(FedAvg, task, clients, model)(num_rounds=len(task.cohorts), model=model)
    settings = task.parameters
    given = {"lr": settings["server_lr"]}
    if task.algorithm == "FedAvgM":
        optimizer = {"path": "torch.optim.SGD", "args": given | {"momentum": settings["beta"]}}
    else:
        betas = (settings["beta1"], settings["beta2"])
        optimizer = {
            "path": "torch.optim.Adam",
            "args": given | {"betas": betas, "eps": settings["tau"]},
        }
    constant = {"path": "torch.optim.lr_scheduler.StepLR", "args": {"step_size": 1, "gamma": 1.0}}
    return offline(FedOpt, task, clients, model)(
        source_model=task.model(),
        optimizer_args=optimizer,
        lr_scheduler_args=constant,
        device="cpu",
        num_rounds=len(task.cohorts),
        model=model,
    )


def offline(workflow, task, clients, model):
    """The workflow, with calls in place of the network."""

    class Offline(workflow):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.fl_ctx = mock.MagicMock()
            self.event = self.fire_event_with_data = lambda *_: None
            self.info = self.debug = self.warning = lambda *_: None
            self.states = []

        def initialize(self, fl_ctx):
            self.load_model = lambda: model
            with mock.patch.object(workflow.__mro__[1], "initialize"):
                super().initialize(fl_ctx)

        def sample_clients(self, num_clients):
            return task.cohorts[self.current_round]

        def send_model(self, task_name, targets, data, callback):
            for k in targets:
                callback(clients[k].train(data))

        def send_model_and_wait(self, targets, data):
            return [clients[k].train(data) for k in targets]

        def get_num_standing_tasks(self):
            return 0

        def build_component(self, config):
            module, name = config["path"].rsplit(".", 1)
            return getattr(import_module(module), name)(**config["args"])

        def save_model(self, saved):
            state = {"w": flat(saved.params)}
            if workflow is Scaffold:
                state["c"] = flat(self._global_ctrl_weights)
            self.states.append(state)

    return Offline


class Client:
    """The user's client, as in NVFlare's examples."""

    def __init__(self, task, number):
        self.task = task
        self.number = number
        self.net = task.model()
        self.helper = PTScaffoldHelper()
        self.helper.init(self.net)

    def train(self, received):
        task = self.task
        net = self.net
        net.load_state_dict({k: torch.as_tensor(v).clone() for k, v in received.params.items()})
        sent = task.model()
        sent.load_state_dict(net.state_dict())
        controls = ()
        if task.algorithm == "Scaffold":
            self.helper.load_global_controls(received.meta["scaffold_c_global"])
            controls = self.helper.get_params()
        proximal = PTFedProxLoss(task.parameters["mu"]) if task.algorithm == "FedProx" else None
        self.steps(sent, controls, proximal)
        meta = {"client_name": str(self.number)}
        if NUM_STEPS or task.algorithm != "Scaffold":
            weight = task.steps[self.number] if NUM_STEPS else task.sizes[self.number]
            meta["NUM_STEPS_CURRENT_ROUND"] = weight
        if controls:
            self.helper.terms_update(net, task.lr, *controls, sent)
            meta["scaffold_c_diff"] = self.helper.get_delta_controls()
        params = {name: array.copy() for name, array in arrays(net).items()}
        if task.algorithm in ("FedAvgM", "FedAdam"):
            params = {name: params[name] - array for name, array in arrays(sent).items()}
            return FLModel(params=params, params_type="DIFF", meta=meta)
        return FLModel(params=params, params_type="FULL", meta=meta)

    def steps(self, sent, controls, proximal):
        task = self.task
        x, y = task.data(self.number)
        optimizer = torch.optim.SGD(self.net.parameters(), task.lr, task.local_momentum)
        for rows in torch.arange(len(x)).split(task.batch_size or len(x)) * task.epochs:
            optimizer.zero_grad()
            loss = task.loss(self.net(x[rows]), y[rows])
            if proximal is not None:
                loss = loss + proximal(self.net, sent)
            loss.backward()
            optimizer.step()
            if controls:
                self.helper.model_update(self.net, task.lr, *controls)


def arrays(net):
    return {name: value.detach().numpy() for name, value in net.state_dict().items()}


def flat(params):
    return np.concatenate([np.asarray(value).reshape(-1) for value in params.values()]).copy()
