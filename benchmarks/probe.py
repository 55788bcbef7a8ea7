"""Seconds and memory of FedSSO's probe with many clients and a CNN.

    python benchmarks/probe.py --clients 1000 --projection 512 --out results/probe.json

The probe trains every client for an epoch and clusters what comes back: N × P numbers, 1.2 GB for 1000 clients and the
CNN for MNIST, unless they are projected as they arrive. Images are random: neither time nor memory depends on them.
"""

import argparse
import json
import re
import time
from pathlib import Path

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split

SAMPLES_PER_CLIENT = 60


def peak_mib() -> float:
    """MiB at most resident since this process began."""
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--projection", type=int, help="to how many dimensions; without it, none")
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    generator = torch.Generator().manual_seed(0)
    n = options.clients * SAMPLES_PER_CLIENT
    train = Split(torch.rand(n, 1, 28, 28, generator=generator), torch.randint(10, (n,), generator=generator))
    test = Split(train.x[:100], train.y[:100])
    fed = fl.FederatedDataset(Dataset("random", train, test, 10), np.arange(n).reshape(options.clients, -1).tolist())
    model = fl.models.cnn_mnist(fed)
    before = peak_mib()
    arguments = {"rounds": 1, "clients_per_round": 10, "local_epochs": 1, "batch_size": 10, "lr": 0.05}
    started = time.perf_counter()
    history = fl.simulate(fed, model, fl.FedSSO(projection=options.projection), **arguments)
    figures = {
        "clients": options.clients,
        "parameters": history.config["model"]["num_parameters"],
        "projection": options.projection,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_mib": round(peak_mib()),
        "of_which_before": round(before),
    }
    print(json.dumps(figures))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
