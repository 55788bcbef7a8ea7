"""fluke: ``CentralizedFL`` with its clients and its server, weighted by the number of samples."""

import time
from collections.abc import Sequence

import torch
from fluke import DDict, FlukeENV
from fluke.algorithms import CentralizedFL
from fluke.client import Client
from fluke.config import OptimizerConfigurator
from fluke.data import FastDataLoader
from fluke.server import Server
from fluke.utils import ServerObserver

from benchmarks.peers.adapters import networks, protocol


class Clock(ServerObserver):
    """Notes when each round ends. The algorithm itself sends the event."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.began = 0.0

    def start_round(self, round: int, global_model: torch.nn.Module) -> None:
        self.began = time.perf_counter()

    def end_round(self, round: int) -> None:
        self.seconds.append(time.perf_counter() - self.began)


class GivenCohorts(Server):
    """The server with the clients that the task names."""

    cohorts: list[list[int]]

    def get_eligible_clients(self, eligible_perc: float) -> Sequence[Client]:
        return [self.clients[k] for k in self.cohorts.pop(0)]


def clients_of(work: protocol.Work) -> list[Client]:
    """fluke's clients with the task's data."""
    found = []
    for k, (x, y) in enumerate(networks.tensors(work)):
        loader = FastDataLoader(
            x, y, num_labels=10, batch_size=work.batch_size, shuffle=True, skip_singleton=False
        )
        configuration = OptimizerConfigurator(DDict(name="SGD", lr=work.lr))
        client = Client(
            k, loader, None, configuration, torch.nn.CrossEntropyLoss(), local_epochs=work.epochs
        )
        found.append(client)
    return found


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    environment = FlukeENV()
    environment.set_seed(0)
    environment.set_device("cpu")
    environment.set_eval_cfg(pre_fit=False, post_fit=False, server=False, locals=False)
    clients = clients_of(work)
    rounds = options.rounds + 1
    clock = Clock()
    module = networks.Counted(networks.network(work))
    server = GivenCohorts(module, None, clients, weighted=True)
    server.cohorts = work.cohorts[:rounds].tolist()
    algorithm = CentralizedFL(len(clients), None, DDict(), clients=clients, server=server)
    algorithm.attach(clock)
    algorithm.run(rounds, work.cohorts.shape[1] / len(clients))
    samples = networks.Counted.total.value
    accuracy = networks.accuracy(server.model, work)
    versions = protocol.versions("fluke-fl", "torch", "numpy")
    return protocol.Report(clock.seconds[1:], samples, accuracy, versions)


if __name__ == "__main__":
    protocol.main(run)
