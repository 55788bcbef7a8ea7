"""Measure time and memory against the number of clients N: rounds of training, and the clusters of
FedSSO and FedMas.

    python benchmarks/scale.py [--only rounds] [--out results/scale.csv]

Each row is measured in a fresh process. Seconds are processor time of all threads. In "rounds" a
client holds three samples of 20 features in ten classes (softmax regression, P = 210). In
"clusters" it holds six samples of 784 features (P = 7,850) with two labels, and updates are
projected to D dimensions. ``start``: time for partition, federation and simulation; ``setup``: time
for probe and clusters, ``found`` of them; ``round_ms``: the fastest of 30 (in "clusters" three)
rounds without evaluation; ``data_mib``: memory with samples and partition; ``peak_mib``: peak
memory.
"""

import argparse
import multiprocessing
import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import torch

import fedlab_core as fl
from fedlab_core.algorithms.tiers import Dbscan
from fedlab_core.data.dataset import Dataset, Split

COHORT = 20
CLASSES = 10
NUM_TIERS = 10

ALGORITHMS: dict[str, Callable[[int, int | None], fl.Algorithm]] = {
    "FedAvg": lambda n, d: fl.FedAvg(),
    "SCAFFOLD": lambda n, d: fl.Scaffold(),
    "FedMas, ten tiers": lambda n, d: fl.FedMas(0.001, tiers=[k % NUM_TIERS for k in range(n)]),
    "FedSSO": lambda n, d: fl.FedSSO(projection=d),
    "FedMas": lambda n, d: fl.FedMas(0.001, tiers=Dbscan(projection=d)),
}
ROUNDS = [
    (name, n, None) for name in ("FedAvg", "SCAFFOLD") for n in (1_000, 10_000, 100_000, 1_000_000)
]
ROUNDS += [("FedMas, ten tiers", n, None) for n in (1_000, 10_000, 100_000)]
CLUSTERS = [
    (name, n, d)
    for name in ("FedSSO", "FedMas")
    for n, d in ((1_000, 64), (3_000, 64), (10_000, 64), (10_000, 512), (10_000, 2_410))
]
TABLES = {"rounds": ROUNDS, "clusters": CLUSTERS}


def mib(what: str) -> float:
    """Memory of this process: ``what`` is VmRSS (now) or VmHWM (peak)."""
    return int(re.search(rf"{what}:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def samples(num_clients: int, with_clusters: bool) -> Dataset:
    """Random features, ``with_clusters`` around one centre for each class."""
    generator = torch.Generator().manual_seed(0)
    each, features = (6, 784) if with_clusters else (3, 20)
    x = torch.rand(each * num_clients, features, generator=generator)
    y = torch.randint(CLASSES, (len(x),), generator=generator)
    if with_clusters:
        x += torch.rand(CLASSES, features, generator=generator)[y]
    return Dataset("random", Split(x, y), Split(x[:100], y[:100]), CLASSES)


def partition(dataset: Dataset, num_clients: int, with_clusters: bool) -> fl.partition.Partition:
    """Two labels per client ``with_clusters``, else IID."""
    y = dataset.train.y
    if with_clusters:
        return fl.partition.labels_per_client(y, num_clients=num_clients, labels_per_client=2)
    return fl.partition.iid(y, num_clients=num_clients)


def seconds_of_round(simulation: fl.Simulation) -> float:
    started = time.process_time()
    next(simulation)
    return time.process_time() - started


def measure(name: str, num_clients: int, projection: int | None) -> dict[str, object]:
    """One row of the table."""
    dataset = samples(num_clients, projection is not None)
    started = time.process_time()
    parts = partition(dataset, num_clients, projection is not None)
    with_parts = mib("VmRSS")
    fed = fl.FederatedDataset(dataset, parts)
    rounds = 3 if projection else 30
    simulation = fl.Simulation(
        fed,
        fl.models.softmax_regression(fed),
        ALGORITHMS[name](num_clients, projection),
        rounds=rounds + 2,
        clients_per_round=COHORT,
        local_epochs=1,
        batch_size=10,
        lr=0.05,
        eval_every=10_000,
        progress=False,
    )
    start = time.process_time() - started
    seconds = [seconds_of_round(simulation) for _ in range(rounds + 1)]
    row: dict[str, object] = {
        "algorithm": name,
        "N": num_clients,
        "K": COHORT,
        "P": simulation.history.config["model"]["num_parameters"],
        "D": projection or "",
        "start": round(start, 2),
    }
    clusters = simulation.compact_state()["algorithm"].get("clusters")
    row["setup"] = round(seconds[0] - min(seconds[1:]), 1) if projection else ""
    row["found"] = "" if clusters is None else int(clusters.max()) + 1
    row["round_ms"] = round(1e3 * min(seconds[1:]), 2)
    return row | {"data_mib": round(with_parts), "peak_mib": round(mib("VmHWM"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--out", type=Path, help="write the table to this CSV file")
    options = parser.parse_args()
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as fresh:
        futures = [fresh.submit(measure, *row) for table in options.only for row in TABLES[table]]
        for future in futures:
            print(future.result(), flush=True)
    found = pd.DataFrame([future.result() for future in futures])
    print(found.to_string(index=False))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        found.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
