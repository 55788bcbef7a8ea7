"""pfl-research (PyPI pfl 0.6.0): FederatedAveraging, FedProx and SCAFFOLD on its simulated backend, with PyTorch.

The central optimiser makes FedAvg (SGD of rate 1), FedAvgM (SGD with momentum) and FedAdam of FederatedAveraging. Users
are weighted by their number of samples, which the framework offers as a postprocessor, but for SCAFFOLD.
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


def run(task):
    settings, central = task.parameters, {"lr": task.parameters.get("server_lr", 1.0)}
    common = {"central_num_iterations": len(task.cohorts), "evaluation_frequency": 10**9, "val_cohort_size": None}
    common["train_cohort_size"] = len(task.cohorts[0])
    optimizer, weighting = torch.optim.SGD, [WeightByDatapoints()]
    if task.algorithm in ("FedAvg", "FedAvgM", "FedAdam"):
        algorithm, params = FederatedAveraging(), NNAlgorithmParams(**common)
    elif task.algorithm == "FedProx":
        algorithm, params = FedProx(), FedProxParams(**common, mu=settings["mu"])
    elif task.algorithm == "Scaffold":
        algorithm, weighting, option = SCAFFOLD(), [], settings["option"]
        own = {"population": task.num_clients, "use_gradient_as_control_variate": option == 1}
        params = SCAFFOLDParams(**common, **own, user_state_storage=InMemoryUserStateStorage())
    else:
        raise NotImplementedError(f"pfl has no {task.algorithm}")
    if task.algorithm == "FedAvgM":
        central["momentum"] = settings["beta"]
    elif task.algorithm == "FedAdam":
        optimizer = torch.optim.Adam
        central |= {"betas": (settings["beta1"], settings["beta2"]), "eps": settings["tau"]}
    module, recorder = Model(task).float(), Recorder(algorithm)

    def local_optimizer(parameters, lr):
        return torch.optim.SGD(parameters, lr=lr, momentum=task.local_momentum)

    model = PyTorchModel(module, local_optimizer, optimizer(module.parameters(), **central))
    samples = [task.data(client, torch.float32) for client in range(task.num_clients)]
    order = iter([client for cohort in task.cohorts for client in cohort])
    users = FederatedDataset(lambda k: Dataset(raw_data=list(samples[k]), user_id=str(k)), lambda: next(order))
    work = {"local_num_epochs": task.epochs, "local_learning_rate": task.lr, "local_batch_size": task.batch_size}
    backend = SimulatedBackend(users, users, postprocessors=weighting)
    algorithm.run(
        params, backend, model, NNTrainHyperParams(**work), callbacks=[recorder], send_metrics_to_platform=False
    )
    return {name: [state[name] for state in recorder.states] for name in recorder.states[0]}


class Model(torch.nn.Module):
    """The task's model with the loss and metrics that pfl asks of a model."""

    def __init__(self, task):
        super().__init__()
        self.net, self.of_batch = task.model(), task.loss

    def loss(self, x, y, eval=False):
        return self.of_batch(self.net(x), y)

    def metrics(self, x, y, eval=False):
        return {}


class Recorder(TrainingProcessCallback):
    """Keeps w, and for SCAFFOLD c, after every round."""

    def __init__(self, algorithm):
        self.algorithm, self.states = algorithm, []

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        state = {"w": parameters_to_vector(model.pytorch_model.parameters()).detach().numpy().copy()}
        if isinstance(self.algorithm, SCAFFOLD):
            state["c"] = torch.cat([value.flatten() for value in self.algorithm._server_c.values()]).numpy().copy()
        self.states.append(state)
        return False, Metrics()
