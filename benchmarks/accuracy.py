"""Test accuracy of every algorithm under one setting, over seeds, as a table and a CSV file.

    python benchmarks/accuracy.py --split dirichlet --out results/accuracy_digits_dirichlet.csv

100 clients, 10 of them a round, E = 5, B = 10. "labels": two labels each; "dirichlet": α = 0.3 by client. Runs of one
seed are paired: same clients, same batches, same initial weights. Accuracy is given after the same number of rounds,
and after the last round within the bytes, and within the server updates, that FedAvg needs for all of its rounds; bytes
to 1 %, so that one number more per client does not cost a round. A run that diverges has no accuracy.
"""

import argparse
from pathlib import Path

import pandas as pd

import fedlab_core as fl
from fedlab_core.algorithms import FedAvgMas, TFedAvg

ALGORITHMS = {
    "FedAvg": fl.FedAvg(),
    "FedProx μ=0.01": fl.FedProx(mu=0.01),
    "FedProx μ=0.1": fl.FedProx(mu=0.1),
    "SCAFFOLD": fl.Scaffold(),
    "FedNova": fl.FedNova(),
    "FedCurv λ=2": fl.FedCurv(strength=2.0),
    "FedSSO": fl.FedSSO(),
    "FedAvgMas λ=0.1": FedAvgMas(strength=0.1),
    "TFedAvg": TFedAvg(),
    "FedMas λ=0.1": fl.FedMas(strength=0.1),
    "FedMas λ=0.01": fl.FedMas(strength=0.01),
}
SPLITS = {
    "labels": (fl.partition.labels_per_client, {"labels_per_client": 2}),
    "dirichlet": (fl.partition.dirichlet, {"alpha": 0.3}),
}


CLIENTS_PER_ROUND = 10
MEASURED = ["at_rounds", "at_bytes", "at_updates", "worst_decile", "megabytes", "server_updates"]


def run(dataset: fl.Dataset, options: argparse.Namespace, seed: int) -> list[dict[str, object]]:
    """One row per algorithm for this seed."""
    split, law = SPLITS[options.split]
    fed = fl.FederatedDataset(dataset, split(dataset.train.y, num_clients=100, seed=seed, **law))
    initial = getattr(fl.models, options.model)(fed, seed=seed)
    rows: list[dict[str, object]] = []
    size = sum(parameter.nbytes for parameter in initial.parameters())
    budget = 2 * options.rounds * CLIENTS_PER_ROUND * size  # what FedAvg sends, down and up
    setting = {
        "dataset": dataset.name,
        "split": options.split,
        "model": options.model,
        "rounds": options.rounds,
        "lr": options.lr,
        "seed": seed,
    }
    for name in options.algorithms:
        try:
            history = fl.simulate(
                fed,
                initial,
                ALGORITHMS[name],
                rounds=options.rounds,
                clients_per_round=CLIENTS_PER_ROUND,
                local_epochs=5,
                batch_size=10,
                lr=options.lr,
                seed=seed,
            )
        except fl.Diverged as error:
            print(error)
            rows.append(setting | {"algorithm": name})
            continue
        frame = history.frame
        last, traffic = frame.iloc[-1], frame.bytes_up + frame.bytes_down
        rows.append(
            setting
            | {
                "algorithm": name,
                "at_rounds": round(last.test_accuracy, 4),
                "at_bytes": _last_accuracy(frame[traffic <= 1.01 * budget]),
                "at_updates": _last_accuracy(frame[frame.server_updates <= options.rounds]),
                "worst_decile": round(history.clients.worst_decile, 4),
                "megabytes": round(traffic.iloc[-1] / 1e6, 1),
                "server_updates": int(last.server_updates),
            }
        )
    return rows


def _last_accuracy(frame: pd.DataFrame) -> float:
    """NaN if not even the first round fits."""
    return round(frame.test_accuracy.iloc[-1], 4) if len(frame) else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--split", default="labels", choices=SPLITS)
    parser.add_argument("--model", default="mlp", choices=("softmax_regression", "mlp", "cnn_mnist", "cnn_cifar"))
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), choices=list(ALGORITHMS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, help="write one row per run to this CSV file")
    options = parser.parse_args()
    dataset = fl.load_dataset(options.dataset)
    table = pd.DataFrame([row for seed in options.seeds for row in run(dataset, options, seed)])
    table = table.reindex(columns=[*(column for column in table if column not in MEASURED), *MEASURED])
    print(table.groupby("algorithm", sort=False)[MEASURED].agg(["mean", "std", "count"]).round(3).to_string())
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
