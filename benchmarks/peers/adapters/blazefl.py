"""BlazeFL: the FedAvg of ``blazefl.contrib``, one client after another or in its pool of processes.

BlazeFL is made for threads on a Python without the global lock (3.14t). On this Python the threads
would wait for one another, so several processes are measured. They are forked, and find the data in
the memory of their parent.
"""

import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.peers.adapters import networks, older_python, protocol

older_python.install()

from blazefl.contrib import (  # noqa: E402
    FedAvgBaseClientTrainer,
    FedAvgBaseServerHandler,
    FedAvgProcessPoolClientTrainer,
)
from blazefl.core import ModelSelector, PartitionedDataset  # noqa: E402

NAME = "task"
WORK: protocol.Work | None = None
CLIENTS: list[tuple[torch.Tensor, torch.Tensor]] = []


class Batches(TensorDataset):
    """A dataset that gives a whole batch at once, which is faster than one sample after another."""

    def __getitems__(self, indices: list[int]) -> tuple[torch.Tensor, ...]:
        chosen = torch.tensor(indices)
        return tuple(tensor[chosen] for tensor in self.tensors)


def as_it_is(batch: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Collate a batch that is one already."""
    return batch


class Clients(PartitionedDataset):
    """The clients' data. It is sent to a process for every client, so it holds nothing itself."""

    def get_dataset(self, type_: str, cid: int | None) -> Batches:
        assert cid is not None
        return Batches(*CLIENTS[cid])

    def set_dataset(self, type_: str, cid: int | None, dataset: object) -> None:
        """Nothing changes."""

    def get_dataloader(
        self,
        type_: str,
        cid: int | None,
        batch_size: int | None = None,
        generator: torch.Generator | None = None,
    ) -> DataLoader:
        dataset = self.get_dataset(type_, cid)
        return DataLoader(
            dataset, batch_size, shuffle=True, generator=generator, collate_fn=as_it_is
        )


class Selector(ModelSelector):
    """Builds the task's network."""

    def select_model(self, model_name: str) -> torch.nn.Module:
        assert WORK is not None
        return networks.Counted(networks.network(WORK))


def trainer_of(work: protocol.Work, processes: int, folder: Path) -> object:
    """BlazeFL's trainer: one client after another, or a pool of processes."""
    common = {
        "model_selector": Selector(),
        "model_name": NAME,
        "dataset": Clients(),
        "device": "cpu",
        "num_clients": len(work.parts),
        "epochs": work.epochs,
        "batch_size": work.batch_size,
        "lr": work.lr,
        "seed": 0,
    }
    if processes == 1:
        return FedAvgBaseClientTrainer(**common)
    return FedAvgProcessPoolClientTrainer(**common, state_dir=folder, num_parallels=processes)


def warm_up(work: protocol.Work) -> None:
    """Take one step that is thrown away.

    PyTorch imports modules at the first step, and forked processes inherit them.
    """
    module = networks.network(work)
    optimizer = torch.optim.SGD(module.parameters(), lr=work.lr)
    x, y = CLIENTS[0]
    torch.nn.functional.cross_entropy(module(x[:1]), y[:1]).backward()
    optimizer.step()


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    global WORK
    WORK = work
    torch.multiprocessing.set_start_method("fork")
    CLIENTS.extend(networks.tensors(work))
    warm_up(work)
    handler = FedAvgBaseServerHandler(
        model_selector=Selector(),
        model_name=NAME,
        dataset=Clients(),
        global_round=options.rounds + 1,
        num_clients=len(work.parts),
        sample_ratio=work.cohorts.shape[1] / len(work.parts),
        device="cpu",
        batch_size=work.batch_size,
        seed=0,
    )
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        trainer = trainer_of(work, options.processes, Path(folder))
        for cohort in work.cohorts[: options.rounds + 1].tolist():
            began = time.perf_counter()
            trainer.local_process(handler.downlink_package(), cohort)
            for package in trainer.uplink_package():
                handler.load(package)
            seconds.append(time.perf_counter() - began)
    samples = networks.Counted.total.value
    accuracy = networks.accuracy(handler.model, work)
    versions = protocol.versions("blazefl", "torch", "numpy")
    return protocol.Report(seconds[1:], samples, accuracy, versions)


if __name__ == "__main__":
    protocol.main(run)
