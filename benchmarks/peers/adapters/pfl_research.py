"""pfl-research: ``FederatedAveraging`` on its ``SimulatedBackend``; several processes are started
by ``torchrun``.

Users are weighted by their number of samples, with the postprocessor that pfl-research has for it.
It does not shuffle a user's samples.
"""

import os
import subprocess
import sys
import time

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.metrics import Metrics
from pfl.model.pytorch import PyTorchModel

from benchmarks.peers.adapters import networks, protocol

MODULE = "benchmarks.peers.adapters.pfl_research"
LAUNCHED = "TORCHELASTIC_RUN_ID"


class Model(torch.nn.Module):
    """The network with the loss and the metrics that pfl-research asks of a model."""

    def __init__(self, work: protocol.Work) -> None:
        super().__init__()
        self.network = networks.Counted(networks.network(work))
        self.criterion = torch.nn.CrossEntropyLoss()

    def loss(self, x: torch.Tensor, y: torch.Tensor, eval: bool = False) -> torch.Tensor:
        self.train(not eval)
        return self.criterion(self.network(x), y)

    def metrics(self, x: torch.Tensor, y: torch.Tensor, eval: bool = False) -> dict[str, float]:
        return {}


class Clock(TrainingProcessCallback):
    """Notes when each round ends."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def after_central_iteration(
        self, aggregate_metrics: Metrics, model: PyTorchModel, *, central_iteration: int
    ) -> tuple[bool, Metrics]:
        self.times.append(time.perf_counter())
        return False, Metrics()


def train(work: protocol.Work, rounds: int) -> tuple[Model, Clock]:
    """Train for some rounds on pfl-research's backend."""
    module = Model(work)
    clock = Clock()
    central_optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    model = PyTorchModel(module, torch.optim.SGD, central_optimizer)
    samples = networks.tensors(work)
    order = iter(work.cohorts[:rounds].flatten().tolist())
    users = FederatedDataset(
        lambda k: Dataset(raw_data=list(samples[k]), user_id=str(k)), lambda: next(order)
    )
    parameters = NNAlgorithmParams(
        central_num_iterations=rounds,
        evaluation_frequency=10**9,
        train_cohort_size=work.cohorts.shape[1],
        val_cohort_size=None,
    )
    local = NNTrainHyperParams(
        local_num_epochs=work.epochs, local_learning_rate=work.lr, local_batch_size=work.batch_size
    )
    backend = SimulatedBackend(users, users, postprocessors=[WeightByDatapoints()])
    FederatedAveraging().run(
        parameters, backend, model, local, callbacks=[clock], send_metrics_to_platform=False
    )
    return module, clock


def launch(processes: int) -> None:
    """Start this module once for each process."""
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc_per_node={processes}",
    ]
    subprocess.run([*torchrun, "-m", MODULE, *sys.argv[1:]], check=True)


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report | None:
    if options.processes > 1 and LAUNCHED not in os.environ:
        launch(options.processes)
        return None
    module, clock = train(work, options.rounds + 1)
    samples = torch.tensor(networks.Counted.total.value)
    if options.processes > 1:
        torch.distributed.all_reduce(samples)
        if torch.distributed.get_rank():
            return None
    seconds = [after - before for before, after in zip(clock.times, clock.times[1:], strict=False)]
    accuracy = networks.accuracy(module.network, work)
    versions = protocol.versions("pfl", "torch", "numpy")
    return protocol.Report(seconds, int(samples), accuracy, versions)


if __name__ == "__main__":
    protocol.main(run)
