"""A plain PyTorch loop: torch.optim.SGD for each client, the clients shared out among processes."""

import multiprocessing
import time
from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from benchmarks.peers.adapters import networks, protocol


class Trainer:
    """Trains clients; every process has a copy."""

    def __init__(self, work: protocol.Work) -> None:
        self.work = work
        self.module = networks.Counted(networks.network(work))
        self.clients = networks.tensors(work)
        self.loss = torch.nn.CrossEntropyLoss()

    def train(self, job: tuple[np.ndarray, list[int], int]) -> np.ndarray:
        """The sum of the clients' parameters, each weighted by its number of samples."""
        start, clients, round_ = job
        total = torch.zeros(len(start))
        self.module.train()
        for k in clients:
            x, y = self.clients[k]
            vector_to_parameters(torch.from_numpy(start.copy()), self.module.parameters())
            optimizer = torch.optim.SGD(self.module.parameters(), lr=self.work.lr)
            generator = np.random.default_rng([round_, k])
            for _ in range(self.work.epochs):
                for indices in protocol.batches(len(y), self.work.batch_size, generator):
                    batch = torch.from_numpy(indices)
                    optimizer.zero_grad()
                    self.loss(self.module(x[batch]), y[batch]).backward()
                    optimizer.step()
            total += len(y) * parameters_to_vector(self.module.parameters()).detach()
        return total.numpy()


TRAINERS: list[Trainer] = []  # the processes of the pool are forked with the last one


def train_part(job: tuple[np.ndarray, list[int], int]) -> np.ndarray:
    """Train some clients of a round in a process of the pool."""
    return TRAINERS[-1].train(job)


def train_rounds(
    work: protocol.Work, options: protocol.Options, run_all: Callable[..., Iterable[np.ndarray]]
) -> tuple[np.ndarray, list[float]]:
    """The parameters after all rounds, and the seconds of each."""
    count = options.processes
    params = parameters_to_vector(TRAINERS[-1].module.parameters()).detach().numpy()
    seconds = []
    for round_, cohort in enumerate(work.cohorts[: options.rounds + 1].tolist()):
        began = time.perf_counter()
        jobs = [(params, cohort[part::count], round_) for part in range(count)]
        weight = np.float32(sum(len(work.parts[k]) for k in cohort))
        params = np.sum(list(run_all(train_part, jobs)), axis=0) / weight
        seconds.append(time.perf_counter() - began)
    return params, seconds


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    TRAINERS.append(Trainer(work))
    if options.processes == 1:
        params, seconds = train_rounds(work, options, map)
    else:
        with multiprocessing.get_context("fork").Pool(options.processes) as pool:
            params, seconds = train_rounds(work, options, pool.map)
    module = TRAINERS[-1].module
    vector_to_parameters(torch.from_numpy(params), module.parameters())
    samples = networks.Counted.total.value
    accuracy = networks.accuracy(module, work)
    return protocol.Report(seconds[1:], samples, accuracy, protocol.versions("torch", "numpy"))


if __name__ == "__main__":
    protocol.main(run)
