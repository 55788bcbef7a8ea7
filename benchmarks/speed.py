"""Compare one round of local training with a textbook loop and with the bare matrix products.

    python benchmarks/speed.py [--repeats 7] [--only digits] [--out results/speed.json]

Every contestant does the same work: the same clients, batches and learning rate, on all usable cores. Rounds are timed
in turn and medians are reported, so that noise affects all contestants alike. Inputs are random, because speed does not
depend on them. The stacked engine and vmap are also timed with 1, 2, 4, … threads, and beside two and four busy
processes.
"""

import argparse
import contextlib
import copy
import json
import math
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.text import LENGTH, VOCABULARY
from fedlab_core.engines import ReferenceEngine, StackedEngine, cores, threads
from fedlab_core.engines.work import Work, plan_batches
from fedlab_core.losses import LOSSES

LOSS = LOSSES["cross_entropy"]
BATCH_SIZE = 10
CONTESTANTS = ("textbook", "reference", "vmap", "stacked", "floor")
Round = Callable[[], Any]


@dataclass(frozen=True)
class Workload:
    """One round of training; ``target``: the goals against the textbook loop and the floor.

    ``tokens``: the size of the vocabulary for text. An LSTM has no floor, because its products depend on each other.
    """

    model: Callable[[fl.FederatedDataset], nn.Module]
    shape: tuple[int, ...]
    sizes: np.ndarray
    clients: int
    epochs: int
    target: tuple[float | None, float | None]
    tokens: int = 0

    @property
    def contestants(self) -> tuple[str, ...]:
        return CONTESTANTS[:-1] if self.tokens else CONTESTANTS


def _ragged(seed: int) -> np.ndarray:
    """Client sizes of digits under the Dirichlet(0.3) law by class."""
    digits = fl.load_dataset("digits")
    parts = fl.partition.dirichlet(digits.train.y, num_clients=100, alpha=0.3, by="class", seed=seed)
    return np.array([len(part) for part in parts])


def _accounts(least: int) -> np.ndarray:
    """The numbers of tweets of Sentiment140's accounts, from ``least`` on; empty if the data set is not on disk."""
    try:
        users = fl.load_dataset("sentiment140").users
    except fl.DatasetNotFound:
        return np.array([], dtype=int)
    return np.array([len(user) for user in users or () if len(user) >= least], dtype=int)


WORKLOADS = {
    "digits": Workload(lambda fed: fl.models.mlp(fed, (32,)), (1, 8, 8), np.full(100, 15), 20, 5, (12, 2.5)),
    "digits-ragged": Workload(lambda fed: fl.models.mlp(fed, (32,)), (1, 8, 8), _ragged(0), 20, 5, (8, None)),
    "mnist-mlp": Workload(lambda fed: fl.models.mlp(fed, (200,)), (1, 28, 28), np.full(10, 600), 10, 1, (4, 1.7)),
    "mnist-cnn": Workload(fl.models.cnn_mnist, (1, 28, 28), np.full(20, 600), 20, 1, (2.1, None)),
    "cifar-cnn": Workload(fl.models.cnn_cifar, (3, 32, 32), np.full(20, 500), 20, 1, (1.3, None)),
    "sentiment-lstm": Workload(fl.models.lstm, (LENGTH,), _accounts(10), 20, 5, (None, None), tokens=VOCABULARY),
}


def federation(load: Workload) -> fl.FederatedDataset:
    """Random images or texts in the sizes of the workload."""
    generator = torch.Generator().manual_seed(0)
    n, classes = int(load.sizes.sum()), 2 if load.tokens else 10
    if load.tokens:
        x = torch.randint(load.tokens, (n, *load.shape), generator=generator)
    else:
        x = torch.rand(n, *load.shape, generator=generator)
    train = Split(x, torch.randint(classes, (n,), generator=generator))
    bounds = np.concatenate([[0], np.cumsum(load.sizes)])
    parts = [np.arange(a, b) for a, b in pairwise(bounds)]
    return fl.FederatedDataset(Dataset("random", train, train, classes), parts)


def cohort_work(load: Workload) -> Work:
    clients = np.sort(np.random.default_rng(0).choice(len(load.sizes), load.clients, replace=False))
    return Work(clients, np.full(load.clients, load.epochs), "epochs", BATCH_SIZE, 0.05, round=1, seed=0)


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
    number: int | None = None,
) -> Round:
    engine = kind(fed, model, LOSS, threads=threads.number(number))
    params = engine.model.parameters()
    corrections = [make(params) if make else fl.Correction() for _ in work.clients]
    return lambda: engine.train(params, work, corrections).weighted_mean()


def floor(model: nn.Module, shape: tuple[int, ...], clients: int, steps: int) -> Round:
    """Only the matrix products of forward pass, input gradients and weight updates."""
    products, x = [], torch.rand(BATCH_SIZE, *shape)
    for layer in model:
        out = layer(x)
        if isinstance(layer, nn.Linear):
            products.append((BATCH_SIZE, layer.in_features, layer.out_features))
        elif isinstance(layer, nn.Conv2d):
            products.append((out[:, 0].numel(), layer.weight[0].numel(), layer.out_channels))
        x = out
    tensors = [[torch.rand(clients, *shape) for shape in ((m, k), (k, n), (m, n))] for m, k, n in products]

    def run_round() -> None:
        for _ in range(steps):
            for i, (below, weight, above) in enumerate(tensors):
                torch.bmm(below, weight, out=above)
                if i:
                    torch.bmm(above, weight.transpose(1, 2), out=below)
                weight.baddbmm_(below.transpose(1, 2), above, beta=0, alpha=1e-9)

    return run_round


def contestant(load: Workload, name: str, number: int | None = None) -> Round:
    """One round of the workload by the contestant ``name`` with ``number`` threads."""
    fed, work = federation(load), cohort_work(load)
    model = load.model(fed)
    if name == "textbook":
        return textbook(fed, model, work)
    if name == "floor":
        steps = int(np.ceil(load.sizes[work.clients] / BATCH_SIZE).mean() * load.epochs)
        return floor(model, load.shape, load.clients, steps)
    kind = ReferenceEngine if name == "reference" else StackedEngine
    return engine_round(kind, fed, Opaque(model) if name == "vmap" else model, work, number=number)


@contextlib.contextmanager
def beside(processes: int) -> Iterator[None]:
    """Run this many busy processes meanwhile."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(processes)]
    time.sleep(0.3)
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def by_threads(load: Workload, repeats: int) -> dict[str, float]:
    """Seconds of the stacked engine with 1, 2, 4, … threads, up to the number of cores."""
    numbers = [2**power for power in range(cores.usable().bit_length())]
    return medians({str(number): contestant(load, "stacked", number) for number in numbers}, repeats)


def beside_others(load: Workload, repeats: int) -> dict[str, dict[str, float]]:
    """The slowdown of the stacked engine and of vmap beside two and four busy processes."""
    rounds = {kind: contestant(load, kind) for kind in ("stacked", "vmap")}
    seconds = {}
    for processes in (0, 2, 4):
        with beside(processes):
            seconds[processes] = medians(rounds, repeats)
    return {
        kind: {str(processes): seconds[processes][kind] / seconds[0][kind] for processes in (2, 4)} for kind in rounds
    }


def corrected(load: Workload) -> dict[str, Round]:
    """The stacked engine with each kind of correction."""
    fed, work = federation(load), cohort_work(load)
    model = load.model(fed)
    weight = torch.rand_like(torch.nn.utils.parameters_to_vector(model.parameters()))
    kinds: dict[str, Callable[..., fl.Correction] | None] = {
        "FedAvg": None,
        "FedProx": lambda params: fl.Correction(weight=0.1, anchor=params),
        "SCAFFOLD": lambda params: fl.Correction(offset=torch.rand_like(params) * 1e-3),
        "per parameter": lambda params: fl.Correction(weight=weight, anchor=params),  # FedMas: one Ω for all
        "per parameter and client": lambda p: fl.Correction(weight=torch.rand_like(p), anchor=p),  # FedCurv
    }
    return {name: engine_round(StackedEngine, fed, model, work, make) for name, make in kinds.items()}


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
    arguments = {"rounds": 50, "clients_per_round": 20, "local_epochs": 5, "batch_size": 10, "lr": 0.05, "seed": 0}
    start = time.perf_counter()
    fl.simulate(fed, fl.models.mlp(fed, seed=0), fl.FedProx(mu=0.1), progress=False, **arguments)
    return time.perf_counter() - start


def peak_memory(workload: str, name: str) -> float:
    """MiB at most resident while one round runs alone in a fresh process."""
    command = [sys.executable, __file__, "--memory-of", workload, name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        workload, name = arguments.memory_of
        contestant(WORKLOADS[workload], name)()
        status = Path("/proc/self/status").read_text()
        print(int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024)
        return
    figures: dict[str, Any] = {"torch": torch.__version__, "rounds": {}}
    figures |= {"processor": platform.processor() or platform.machine(), "repeats": arguments.repeats}
    print(f"{'seconds per round':16}" + "".join(f"{n:>11}" for n in CONTESTANTS))
    for name in arguments.only:
        load = WORKLOADS[name]
        if not len(load.sizes):
            print(f"{name:16}  left out: its data set is not on disk")
            continue
        seconds = medians({kind: contestant(load, kind) for kind in load.contestants}, arguments.repeats)
        threaded, disturbed = by_threads(load, arguments.repeats), beside_others(load, arguments.repeats)
        gain = seconds["textbook"] / seconds["stacked"]
        above = seconds["stacked"] / seconds["floor"] if "floor" in seconds else None
        memory = {kind: peak_memory(name, kind) for kind in ("textbook", "stacked")}
        print(f"{name:16}" + "".join(f"{seconds.get(kind, math.nan):11.4f}" for kind in CONTESTANTS))
        print(f"{'':16}  {gain:.1f}× the textbook loop (goal {load.target[0]})", end="")
        print("" if above is None else f", {above:.2f}× the floor (goal {load.target[1]})")
        print(f"{'':16}  peak memory {memory['stacked']:.0f} MiB (textbook {memory['textbook']:.0f})")
        print(f"{'':16}  by threads: " + ", ".join(f"{number}: {value:.4f}" for number, value in threaded.items()))
        for kind, times in disturbed.items():
            print(f"{'':16}  {kind} beside two busy processes {times['2']:.1f}× its time alone (goal 2.5), ", end="")
            print(f"beside four {times['4']:.1f}× (goal 4)", flush=True)
        figures["rounds"][name] = {"seconds": seconds, "gain": gain, "above_floor": above, "peak_mib": memory}
        figures["rounds"][name] |= {"seconds_by_threads": threaded, "times_beside_busy": disturbed}
    for name in [name for name in ("digits", "mnist-mlp") if name in arguments.only]:
        seconds = medians(corrected(WORKLOADS[name]), arguments.repeats)
        ratios = {kind: value / seconds["FedAvg"] for kind, value in seconds.items()}
        print(
            f"{name} corrections, against FedAvg (goal ≤ 1.25): " + ", ".join(f"{k} {r:.2f}" for k, r in ratios.items())
        )
        figures.setdefault("corrections", {})[name] = {"seconds": seconds, "ratios": ratios}
    figures["five_lines_seconds"] = statistics.median(five_lines() for _ in range(3))
    print(f"the five-line example, 50 rounds: {figures['five_lines_seconds']:.2f} s (goal < 1.5)")
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
