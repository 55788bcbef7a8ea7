"""Compare one round of local training with a textbook loop and with the bare matrix products.

    python benchmarks/speed.py [--repeats 7] [--only digits] [--out results/speed.json]

Every contestant does the same work: the same clients, batches and learning rate, on all usable
cores. Rounds are timed in turn and medians are reported, so that noise affects all contestants
alike. Inputs are random, because speed does not depend on them.
"""

import argparse
import copy
import json
import multiprocessing
import platform
import re
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines import ReferenceEngine, StackedEngine, threads
from fedlab_core.engines.work import Work, plan_batches
from fedlab_core.losses import LOSSES

LOSS = LOSSES["cross_entropy"]
BATCH_SIZE = 10
CONTESTANTS = ("textbook", "reference", "vmap", "stacked", "floor")
Round = Callable[[], Any]


@dataclass(frozen=True)
class Workload:
    """One round of training of ``clients`` clients, drawn from a federation of clients with
    ``sizes`` images each.
    """

    model: Callable[[fl.FederatedDataset], nn.Module]
    shape: tuple[int, ...]
    sizes: np.ndarray
    clients: int
    epochs: int


def _ragged(seed: int) -> np.ndarray:
    """Client sizes of digits under the Dirichlet(0.3) law by class."""
    digits = fl.load_dataset("digits")
    parts = fl.partition.dirichlet(
        digits.train.y, num_clients=100, alpha=0.3, by="class", seed=seed
    )
    return np.array([len(part) for part in parts])


WORKLOADS = {
    "digits": Workload(lambda fed: fl.models.mlp(fed, (32,)), (1, 8, 8), np.full(100, 15), 20, 5),
    "digits-ragged": Workload(lambda fed: fl.models.mlp(fed, (32,)), (1, 8, 8), _ragged(0), 20, 5),
    "mnist-mlp": Workload(
        lambda fed: fl.models.mlp(fed, (200,)), (1, 28, 28), np.full(10, 600), 10, 1
    ),
    "mnist-cnn": Workload(fl.models.cnn_mnist, (1, 28, 28), np.full(20, 600), 20, 1),
    "cifar-cnn": Workload(fl.models.cnn_cifar, (3, 32, 32), np.full(20, 500), 20, 1),
}


def federation(load: Workload) -> fl.FederatedDataset:
    """Random images in ten classes, in the sizes of the workload."""
    generator = torch.Generator().manual_seed(0)
    n = int(load.sizes.sum())
    x = torch.rand(n, *load.shape, generator=generator)
    train = Split(x, torch.randint(10, (n,), generator=generator))
    bounds = np.concatenate([[0], np.cumsum(load.sizes)])
    parts = [np.arange(a, b) for a, b in pairwise(bounds)]
    return fl.FederatedDataset(Dataset("random", train, train, 10), parts)


def cohort_work(load: Workload) -> Work:
    clients = np.sort(np.random.default_rng(0).choice(len(load.sizes), load.clients, replace=False))
    return Work(
        clients, np.full(load.clients, load.epochs), "epochs", BATCH_SIZE, 0.05, round=1, seed=0
    )


def textbook(fed: fl.FederatedDataset, model: nn.Module, work: Work) -> Round:
    """A tutorial's round: copy the module, run torch.optim.SGD, average the results."""
    loss_function = nn.CrossEntropyLoss()

    def run_round() -> torch.Tensor:
        locals_ = []
        plans = plan_batches(work, [len(fed.parts[client]) for client in work.clients])
        for client, plan in zip(work.clients, plans, strict=True):
            local = copy.deepcopy(model)
            optimizer = torch.optim.SGD(local.parameters(), lr=work.lr)
            x, y = fed.client(client)
            for step in range(plan.num_steps):
                batch = torch.tensor(plan.batch(step))
                optimizer.zero_grad()
                loss_function(local(x[batch]), y[batch]).backward()
                optimizer.step()
            locals_.append(torch.nn.utils.parameters_to_vector(local.parameters()).detach())
        return torch.stack(locals_).mean(0)

    return run_round


class Opaque(nn.Module):
    """Hide the layers of a module, so that it is trained through vmap."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def engine_round(
    kind: Any,
    fed: fl.FederatedDataset,
    model: nn.Module,
    work: Work,
    make: Callable[..., fl.Correction] | None = None,
) -> Round:
    engine = kind(fed, model, LOSS, threads=threads.number())
    params = engine.model.parameters()
    corrections = [make(params) if make else fl.Correction() for _ in work.clients]
    return lambda: engine.train(params, work, corrections).weighted_mean()


def floor(model: nn.Module, shape: tuple[int, ...], clients: int, steps: int) -> Round:
    """Only the matrix products of forward pass, input gradients and weight updates."""
    products = []
    x = torch.rand(BATCH_SIZE, *shape)
    for layer in model:
        out = layer(x)
        if isinstance(layer, nn.Linear):
            products.append((BATCH_SIZE, layer.in_features, layer.out_features))
        elif isinstance(layer, nn.Conv2d):
            products.append((out[:, 0].numel(), layer.weight[0].numel(), layer.out_channels))
        x = out
    tensors = [
        [torch.rand(clients, *shape) for shape in ((m, k), (k, n), (m, n))] for m, k, n in products
    ]

    def run_round() -> None:
        for _ in range(steps):
            for i, (below, weight, above) in enumerate(tensors):
                torch.bmm(below, weight, out=above)
                if i:
                    torch.bmm(above, weight.transpose(1, 2), out=below)
                weight.baddbmm_(below.transpose(1, 2), above, beta=0, alpha=1e-9)

    return run_round


def contestant(load: Workload, name: str) -> Round:
    """One round of the workload by the contestant ``name``."""
    fed = federation(load)
    work = cohort_work(load)
    model = load.model(fed)
    if name == "textbook":
        return textbook(fed, model, work)
    if name == "floor":
        steps = int(np.ceil(load.sizes[work.clients] / BATCH_SIZE).mean() * load.epochs)
        return floor(model, load.shape, load.clients, steps)
    kind = ReferenceEngine if name == "reference" else StackedEngine
    return engine_round(kind, fed, Opaque(model) if name == "vmap" else model, work)


def corrected(load: Workload) -> dict[str, Round]:
    """The stacked engine with each kind of correction."""
    fed = federation(load)
    work = cohort_work(load)
    model = load.model(fed)
    weight = torch.rand_like(torch.nn.utils.parameters_to_vector(model.parameters()))
    kinds: dict[str, Callable[..., fl.Correction] | None] = {
        "FedAvg": None,
        "FedProx": lambda params: fl.Correction(weight=0.1, anchor=params),
        "SCAFFOLD": lambda params: fl.Correction(offset=torch.rand_like(params) * 1e-3),
        # FedMas: one Ω for all
        "per parameter": lambda params: fl.Correction(weight=weight, anchor=params),
        # FedCurv
        "per parameter and client": lambda p: fl.Correction(weight=torch.rand_like(p), anchor=p),
    }
    return {
        name: engine_round(StackedEngine, fed, model, work, make) for name, make in kinds.items()
    }


def medians(rounds: dict[str, Round], repeats: int) -> dict[str, float]:
    """Median seconds of each contestant; one round first warms up."""
    times: dict[str, list[float]] = {name: [] for name in rounds}
    for repeat in range(repeats + 1):
        for name, run_round in rounds.items():
            with torch.no_grad() if name == "floor" else torch.enable_grad():
                start = time.perf_counter()
                run_round()
                elapsed = time.perf_counter() - start
            if repeat:
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()}


def five_lines() -> float:
    """Seconds of the README's example: 50 rounds on digits, evaluated after each."""
    digits = fl.load_dataset("digits")
    parts = fl.partition.dirichlet(digits.train.y, num_clients=100, alpha=0.3, seed=0)
    fed = fl.FederatedDataset(digits, parts)
    arguments = {
        "rounds": 50,
        "clients_per_round": 20,
        "local_epochs": 5,
        "batch_size": 10,
        "lr": 0.05,
        "seed": 0,
    }
    start = time.perf_counter()
    fl.simulate(fed, fl.models.mlp(fed, seed=0), fl.FedProx(mu=0.1), progress=False, **arguments)
    return time.perf_counter() - start


def peak_memory(workload: str, name: str) -> float:
    """MiB at most resident while one round runs alone in a fresh process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(_peak_of_one_round, workload, name).result()


def _peak_of_one_round(workload: str, name: str) -> float:
    contestant(WORKLOADS[workload], name)()
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


def measure(name: str, repeats: int) -> dict[str, Any]:
    """Time the contestants of a workload, and measure the memory of two of them."""
    seconds = medians({kind: contestant(WORKLOADS[name], kind) for kind in CONTESTANTS}, repeats)
    return {
        "seconds": seconds,
        "gain": seconds["textbook"] / seconds["stacked"],
        "above_floor": seconds["stacked"] / seconds["floor"],
        "peak_mib": {kind: peak_memory(name, kind) for kind in ("textbook", "stacked")},
    }


def measure_corrections(name: str, repeats: int) -> dict[str, Any]:
    """Time the corrections in a workload, and compare them with FedAvg."""
    seconds = medians(corrected(WORKLOADS[name]), repeats)
    return {
        "seconds": seconds,
        "ratios": {kind: value / seconds["FedAvg"] for kind, value in seconds.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    given = parser.parse_args()
    figures = {
        "torch": torch.__version__,
        "processor": platform.processor() or platform.machine(),
        "repeats": given.repeats,
        "rounds": {name: measure(name, given.repeats) for name in given.only},
        "corrections": {
            name: measure_corrections(name, given.repeats)
            for name in ("digits", "mnist-mlp")
            if name in given.only
        },
        "five_lines_seconds": statistics.median(five_lines() for _ in range(3)),
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
