"""This library: ``Simulation`` with FedAvg, and the engine and threads that it chooses."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

import fedlab_core as fl
from benchmarks.peers.adapters import networks, protocol
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.server import Server

NEVER = 10**6


@dataclass(frozen=True)
class GivenCohorts(fl.FedAvg):
    """FedAvg with the clients that the task names, which also counts the samples."""

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        yield COHORTS[server.round - 1]

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        steps_of_an_epoch = torch.ceil(updates.num_samples / BATCH_SIZES[0])
        epochs = updates.num_steps / steps_of_an_epoch
        SAMPLES.append(int((updates.num_samples * epochs).sum()))


COHORTS: list[np.ndarray] = []
BATCH_SIZES: list[int] = []
SAMPLES: list[int] = []  # of each round


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    train = Split(torch.from_numpy(work.x), torch.from_numpy(work.y))
    test = Split(torch.from_numpy(work.test_x), torch.from_numpy(work.test_y))
    fed = fl.FederatedDataset(Dataset("task", train, test, 10), list(work.parts))
    COHORTS.extend(work.cohorts)
    BATCH_SIZES.append(work.batch_size)
    rounds = options.rounds + 2  # the last one evaluates, so it is left out
    simulation = fl.Simulation(
        fed,
        networks.network(work),
        GivenCohorts(),
        rounds=rounds,
        clients_per_round=work.cohorts.shape[1],
        local_epochs=work.epochs,
        batch_size=work.batch_size,
        lr=work.lr,
        eval_every=NEVER,
        progress=False,
    )
    seconds = []
    rounds_of_it = iter(simulation)
    for _ in range(options.rounds + 1):
        began = time.perf_counter()
        next(rounds_of_it)
        seconds.append(time.perf_counter() - began)
    found = networks.accuracy(simulation.model, work)
    versions = {"fedlab_core": fl.__version__, **protocol.versions("torch", "numpy")}
    return protocol.Report(seconds[1:], sum(SAMPLES), found, versions)


if __name__ == "__main__":
    protocol.main(run)
