"""pfl-research (PyPI pfl 0.6.0): FederatedAveraging, FedProx and SCAFFOLD on its simulated backend,
with PyTorch.

The central optimiser makes FedAvg (SGD of rate 1), FedAvgM (SGD with momentum) and FedAdam of
FederatedAveraging. Users are weighted by their number of samples, which the framework offers as a
postprocessor, but for SCAFFOLD.

Requirements: pfl 0.6.0 with absl-py, attrs, dp-accounting, multiprocess, dill and prv-accountant.
"""

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.algorithm.fedprox import FedProx, FedProxParams
from pfl.algorithm.scaffold import SCAFFOLD, SCAFFOLDParams
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.user_state import InMemoryUserStateStorage
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.metrics import Metrics
from pfl.model.pytorch import PyTorchModel
from torch.nn.utils import parameters_to_vector

REQUIRES = ["pfl[pytorch]==0.6.0"]
CHANGES = {
    "weights": "users are weighted by their number of samples, but for SCAFFOLD",
    "precision": "float32",
}


def run(task):
    algorithm, params = algorithm_of(task)
    module = Model(task).float()
    recorder = Recorder(algorithm)

    def local_optimizer(parameters, lr):
        return torch.optim.SGD(parameters, lr=lr, momentum=task.local_momentum)

    model = PyTorchModel(module, local_optimizer, central_optimizer(task, module))
    users = users_of(task)
    weighting = [] if task.algorithm == "Scaffold" else [WeightByDatapoints()]
    work = {
        "local_num_epochs": task.epochs,
        "local_learning_rate": task.lr,
        "local_batch_size": task.batch_size,
    }
    algorithm.run(
        params,
        SimulatedBackend(users, users, postprocessors=weighting),
        model,
        NNTrainHyperParams(**work),
        callbacks=[recorder],
        send_metrics_to_platform=False,
    )
    return {name: [state[name] for state in recorder.states] for name in recorder.states[0]}


def algorithm_of(task):
    """The framework's algorithm and its parameters."""
    common = {
        "central_num_iterations": len(task.cohorts),
        "evaluation_frequency": 10**9,
        "train_cohort_size": task.clients_per_round,
        "val_cohort_size": None,
    }
    if task.algorithm in ("FedAvg", "FedAvgM", "FedAdam"):
        return FederatedAveraging(), NNAlgorithmParams(**common)
    if task.algorithm == "FedProx":
        return FedProx(), FedProxParams(**common, mu=task.parameters["mu"])
    if task.algorithm == "Scaffold":
        params = SCAFFOLDParams(
            **common,
            population=task.num_clients,
            use_gradient_as_control_variate=task.parameters["option"] == 1,
            user_state_storage=InMemoryUserStateStorage(),
        )
        return SCAFFOLD(), params
    raise NotImplementedError(f"pfl has no {task.algorithm}")


def central_optimizer(task, module):
    settings = task.parameters
    lr = settings.get("server_lr", 1.0)
    if task.algorithm == "FedAdam":
        betas = (settings["beta1"], settings["beta2"])
        return torch.optim.Adam(module.parameters(), lr=lr, betas=betas, eps=settings["tau"])
    momentum = settings["beta"] if task.algorithm == "FedAvgM" else 0.0
    return torch.optim.SGD(module.parameters(), lr=lr, momentum=momentum)


def users_of(task):
    """The clients, which the framework samples in the order of the task's cohorts."""
    samples = [task.data(client, torch.float32) for client in range(task.num_clients)]
    order = iter([client for cohort in task.cohorts for client in cohort])
    return FederatedDataset(
        lambda k: Dataset(raw_data=list(samples[k]), user_id=str(k)), lambda: next(order)
    )


class Model(torch.nn.Module):
    """The task's model with the loss and metrics that pfl asks of a model."""

    def __init__(self, task):
        super().__init__()
        self.net = task.model()
        self.of_batch = task.loss

    def loss(self, x, y, eval=False):
        return self.of_batch(self.net(x), y)

    def metrics(self, x, y, eval=False):
        return {}


class Recorder(TrainingProcessCallback):
    """Keeps w, and for SCAFFOLD c, after every round."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.states = []

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        state = {
            "w": parameters_to_vector(model.pytorch_model.parameters()).detach().numpy().copy()
        }
        if isinstance(self.algorithm, SCAFFOLD):
            state["c"] = (
                torch.cat([value.flatten() for value in self.algorithm._server_c.values()])
                .numpy()
                .copy()
            )
        self.states.append(state)
        return False, Metrics()
