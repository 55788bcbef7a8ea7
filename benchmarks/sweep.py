"""A sweep against the same runs one after another: ``python benchmarks/sweep.py [--runs 40] [--rounds 50]``.

Both do the same runs on the digits from nothing: one process runs one after another in a plain loop, with
one thread; the sweep has one worker per core. The sweep's time is given with and without its start-up (Python, PyTorch
and Dask in each worker). Overhead is what a sweep with one worker takes beyond the plain loop, for each run.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import torch

from fedlab_core.reproduce.rerun import prepared
from fedlab_core.sweep import crew, plan
from fedlab_core.sweep.plan import Run

GRID = """
seed = {seeds}
partition = {{law = "labels_per_client", labels_per_client = 2}}
algorithm = ["fedavg", {{name = "fedprox", mu = 0.1}}, "scaffold", "fednova"]
[settings]
rounds = {rounds}
clients_per_round = 10
lr = 0.05
"""


def one_after_another(runs: list[Run]) -> float:
    torch.set_num_threads(1)
    started = time.perf_counter()
    for run in runs:
        fed = plan.dealt("digits", json.dumps(run.config["partition"]), run.config["seed"])
        prepared(run.config, fed=fed, progress=False).run()
    return time.perf_counter() - started


def swept(runs: list[Run], workers: int) -> dict[str, float]:
    """Seconds of start-up, and of all runs once workers are up."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        list(crew.outcomes(workers, runs[:workers], lambda *_: None, folder, []))
        up = time.perf_counter()
        list(crew.outcomes(workers, runs, lambda *_: None, folder, []))
        done = time.perf_counter()
    return {"start": up - started, "runs": done - up}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="a multiple of four")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "grid.toml")
        path.write_text(GRID.format(seeds=list(range(options.runs // 4)), rounds=options.rounds), encoding="utf-8")
        runs = plan.read(path).runs
    cores = os.cpu_count() or 1
    one_after_another(runs[:4])
    alone, single, several = one_after_another(runs), swept(runs, 1), swept(runs, cores)
    print(f"{len(runs)} runs of {options.rounds} rounds, {cores} cores")
    print(f"one after another      {alone:6.2f} s")
    print(f"sweep, {cores} workers       {several['runs']:6.2f} s, ratio {several['runs'] / alone:.2f}")
    print(f"  with its start-up    {several['start'] + several['runs']:6.2f} s")
    print(f"overhead, one worker   {1000 * (single['runs'] - alone) / len(runs):6.1f} ms a run")


if __name__ == "__main__":
    main()
