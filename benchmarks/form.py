"""What the fields of a correction cost: momentum, starts, scales, against plain FedAvg, in one run.

    python benchmarks/form.py [--repeats 15] [--only digits] [--out results/form.json]
    python benchmarks/form.py --against ../before          # and plain FedAvg of another checkout, in turn

Whole rounds of simulations that do identical work but for their correction: the same clients, batches and rate. They
are timed in turn on one thread, in seconds of the processor, and the fastest tenth of them counts: what else runs on
the machine only ever adds to a round. ``--against`` runs plain FedAvg of this and of the other checkout in processes
that take turns, and compares the medians over processes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from speed import BATCH_SIZE, WORKLOADS, federation

import fedlab_core as fl

GOALS = {"momentum 0.9": 1.4, "own starts": 1.1}
WARM_UP = 2
PROCESSES = 7
Make = Callable[[torch.Tensor], fl.Correction]


def _every_second(params: torch.Tensor) -> torch.Tensor:
    """A scale that keeps half of the parameters."""
    return (torch.arange(len(params)) % 2).to(params)


KINDS: dict[str, Make] = {
    "momentum 0.9": lambda params: fl.Correction(momentum=0.9),
    "own starts": lambda params: fl.Correction(start=params + 1e-3 * torch.randn_like(params)),
    "scale 0.5": lambda params: fl.Correction(scale=0.5),
    "scale per parameter": lambda params: fl.Correction(scale=_every_second(params)),
    "momentum and pull": lambda params: fl.Correction(momentum=0.9, weight=0.1, anchor=params),
}


class Made(fl.Algorithm):
    """FedAvg whose clients have corrections that were made beforehand: forming them is not the form's price."""

    def __init__(self, make: Make, params: torch.Tensor, clients: int) -> None:
        self.corrections = [make(params) for _ in range(clients)]

    def correction(self, server: Any, client: int) -> fl.Correction:
        return self.corrections[client]


def contestants(workload: str, kinds: list[str], rounds: int) -> dict[str, fl.Simulation]:
    """A simulation of the workload for plain FedAvg and for each of ``kinds``, evaluated at the end only."""
    load = WORKLOADS[workload]
    fed = federation(load)
    model = load.model(fed)
    params = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    algorithms = {"FedAvg": fl.FedAvg()} | {kind: Made(KINDS[kind], params, fed.num_clients) for kind in kinds}
    work = {"rounds": rounds, "clients_per_round": load.clients, "local_epochs": load.epochs, "eval_every": rounds}
    work |= {"batch_size": BATCH_SIZE, "lr": 0.01, "progress": False}
    return {name: fl.Simulation(fed, model, algorithm, **work) for name, algorithm in algorithms.items()}


def fastest(simulations: dict[str, fl.Simulation], repeats: int) -> dict[str, float]:
    """Seconds of the processor per round of each simulation, round after round in turn: the fastest tenth."""
    times: dict[str, list[float]] = {name: [] for name in simulations}
    for repeat in range(WARM_UP + repeats):
        for name, simulation in simulations.items():
            started = time.process_time()
            next(simulation)
            if repeat >= WARM_UP:
                times[name].append(time.process_time() - started)
    return {name: statistics.quantiles(values, n=10)[0] for name, values in times.items()}


def measured(workload: str, kinds: list[str], repeats: int) -> dict[str, float]:
    """:func:`fastest` of plain FedAvg and ``kinds``; the round that is evaluated is not reached."""
    return fastest(contestants(workload, kinds, WARM_UP + repeats + 1), repeats)


def against(other: Path, workload: str, repeats: int) -> dict[str, Any]:
    """Seconds of a round of FedAvg here and in the ``other`` checkout, process after process."""
    folders = {"here": Path(__file__).parents[1], "other": other}
    seconds: dict[str, list[float]] = {name: [] for name in folders}
    command = [sys.executable, __file__, "--plain", workload, "--repeats", str(repeats)]
    for turn in range(PROCESSES):
        for name in sorted(folders, reverse=bool(turn % 2)):
            environment = os.environ | {"PYTHONPATH": str(folders[name].resolve())}
            result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            seconds[name].append(float(result.stdout))
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return {"seconds": seconds, "ratio": middle["here"] / middle["other"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), default=["digits", "mnist-mlp", "mnist-cnn"])
    parser.add_argument("--against", type=Path, help="the folder of another checkout")
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--plain", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.plain:
        print(measured(options.plain, [], options.repeats)["FedAvg"])
        return
    figures: dict[str, Any] = {"torch": torch.__version__, "repeats": options.repeats, "rounds": {}}
    for name in options.only:
        seconds = measured(name, list(KINDS), options.repeats)
        ratios = {kind: value / seconds["FedAvg"] for kind, value in seconds.items()}
        print(f"{name}: FedAvg {seconds['FedAvg']:.4f} s per round; against it:")
        for kind in KINDS:
            goal = f"  (goal ≤ {GOALS[kind]})" if kind in GOALS else ""
            print(f"  {kind:20} {ratios[kind]:.2f}{goal}", flush=True)
        figures["rounds"][name] = {"seconds": seconds, "ratios": ratios}
        if options.against:
            figures["rounds"][name]["against"] = found = against(options.against, name, options.repeats)
            print(f"  plain FedAvg, this checkout against the other: {found['ratio']:.3f} (goal ≤ 1.03)", flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
