"""Measure the test accuracy of every algorithm in one setting, over seeds, as a table and a CSV
file.

    python benchmarks/accuracy.py benchmarks/grids/accuracy_digits.toml --out
    results/accuracy_digits.csv

A sweep does the runs that are missing in build/sweeps; ``--workers`` and ``--scheduler`` go to the
sweep. Runs of one seed are paired: same clients, batches and first weights. Accuracy is measured
after all rounds, and after the last round within FedAvg's bytes and within FedAvg's server updates.
Bytes may be 1 % higher, so that one more number per client costs no round. A diverged run has no
accuracy.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

import fedlab_core as fl
from fedlab_core import cli
from fedlab_core.sweep import plan
from fedlab_core.sweep.folder import Folder

SPLITS = {"labels_per_client": "labels", "dirichlet": "dirichlet"}
NAMES = {
    "fedavg": "FedAvg",
    "fedprox": "FedProx μ=",
    "scaffold": "SCAFFOLD",
    "fednova": "FedNova",
    "fedcurv": "FedCurv λ=",
    "fedsso": "FedSSO",
    "fedavgmas": "FedAvgMas λ=",
    "tfedavg": "TFedAvg",
    "fedmas": "FedMas λ=",
}
MEASURED = ["at_rounds", "at_bytes", "at_updates", "worst_decile", "megabytes", "server_updates"]


def row(run: plan.Run, folder: Folder) -> dict[str, Any]:
    """The row of one run."""
    config = run.config
    parameter = next(
        (run.axes[name] for name in ("algorithm.mu", "algorithm.strength") if name in run.axes),
        None,
    )
    setting = {
        "dataset": config["dataset"],
        "split": SPLITS[config["partition"]["law"]],
        "model": config["model"]["name"],
        "rounds": config["rounds"],
        "lr": config["lr"],
        "seed": config["seed"],
        "algorithm": NAMES[run.axes["algorithm"]] + ("" if parameter is None else f"{parameter:g}"),
    }
    if folder.outcome(run)["status"] == "diverged":
        return setting
    history = fl.History.load(folder.of(run) / "history.npz")
    size = history.params.nbytes
    # what FedAvg sends, down and up
    budget = 2 * config["rounds"] * config["clients_per_round"] * size
    frame = history.frame
    last = frame.iloc[-1]
    traffic = frame.bytes_up + frame.bytes_down
    return setting | {
        "at_rounds": round(last.test_accuracy, 4),
        "at_bytes": _last_accuracy(frame[traffic <= 1.01 * budget]),
        "at_updates": _last_accuracy(frame[frame.server_updates <= config["rounds"]]),
        "worst_decile": round(history.clients.worst_decile, 4),
        "megabytes": round(traffic.iloc[-1] / 1e6, 1),
        "server_updates": int(last.server_updates),
    }


def _last_accuracy(frame: pd.DataFrame) -> float:
    """NaN if not even the first round fits."""
    return round(frame.test_accuracy.iloc[-1], 4) if len(frame) else float("nan")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path, metavar="CONFIG.toml")
    parser.add_argument(
        "--sweeps", type=Path, default=Path("build/sweeps"), help="where runs are kept"
    )
    parser.add_argument("--out", type=Path, help="write one row per run to this CSV file")
    options, further = parser.parse_known_args(arguments)
    if status := cli.main(["sweep", str(options.config), "--out", str(options.sweeps), *further]):
        return status
    found = plan.read(options.config)
    folder = Folder(options.sweeps, found)
    runs = sorted(found.runs, key=lambda run: run.config["seed"])
    table = pd.DataFrame([row(run, folder) for run in runs])
    table = table.reindex(
        columns=[*(column for column in table if column not in MEASURED), *MEASURED]
    )
    print(
        table.groupby("algorithm", sort=False)[MEASURED]
        .agg(["mean", "std", "count"])
        .round(3)
        .to_string()
    )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.out, index=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
