"""This library: ``Simulation`` with FedAvg, and the engine and threads that it chooses."""

import time
from collections.abc import Iterator

import numpy as np
import torch

import fedlab_core as fl
from benchmarks.peers.adapters import networks, protocol
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.server import Server

NEVER = 10**6


def algorithm_of(work: protocol.Work, samples: list[int]) -> fl.FedAvg:
    """FedAvg with the clients that the task names; adds the samples of each round to the list."""

    class GivenCohorts(fl.FedAvg):
        def cohorts(self, server: Server) -> Iterator[np.ndarray]:
            yield work.cohorts[server.round - 1]

        def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
            steps_of_an_epoch = torch.ceil(updates.num_samples / work.batch_size)
            epochs = updates.num_steps / steps_of_an_epoch
            samples.append(int((updates.num_samples * epochs).sum()))

    return GivenCohorts()


def federation(work: protocol.Work) -> fl.FederatedDataset:
    """The task's clients."""
    train = Split(torch.from_numpy(work.x), torch.from_numpy(work.y))
    test = Split(torch.from_numpy(work.test_x), torch.from_numpy(work.test_y))
    return fl.FederatedDataset(Dataset("task", train, test, 10), list(work.parts))


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    samples: list[int] = []
    simulation = fl.Simulation(
        federation(work),
        networks.network(work),
        algorithm_of(work, samples),
        rounds=options.rounds + 2,  # the last one evaluates, so it is left out
        clients_per_round=work.cohorts.shape[1],
        local_epochs=work.epochs,
        batch_size=work.batch_size,
        lr=work.lr,
        eval_every=NEVER,
        progress=False,
    )
    seconds = []
    rounds = iter(simulation)
    for _ in range(options.rounds + 1):
        began = time.perf_counter()
        next(rounds)
        seconds.append(time.perf_counter() - began)
    accuracy = networks.accuracy(simulation.model, work)
    versions = {"fedlab_core": fl.__version__, **protocol.versions("torch", "numpy")}
    return protocol.Report(seconds[1:], sum(samples), accuracy, versions)


if __name__ == "__main__":
    protocol.main(run)
