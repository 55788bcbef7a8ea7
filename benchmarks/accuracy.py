"""Test accuracy of every algorithm under one setting, over seeds, as a table and a CSV file.

    python benchmarks/accuracy.py --dataset mnist --model cnn_mnist --rounds 10 --out results/accuracy_mnist.csv

100 clients with two labels each, 10 of them a round, E = 5, B = 10. Runs of one seed are paired: same clients, same
batches, same initial weights.
"""

import argparse
from pathlib import Path

import pandas as pd

import fedlab_core as fl

ALGORITHMS = {
    "FedAvg": fl.FedAvg(),
    "FedProx μ=0.01": fl.FedProx(mu=0.01),
    "FedProx μ=0.1": fl.FedProx(mu=0.1),
    "SCAFFOLD": fl.Scaffold(),
    "FedNova": fl.FedNova(),
}


def run(dataset: fl.Dataset, model: str, seed: int, rounds: int, lr: float) -> list[dict[str, object]]:
    """One row per algorithm for this seed."""
    parts = fl.partition.labels_per_client(dataset.train.y, num_clients=100, labels_per_client=2, seed=seed)
    fed = fl.FederatedDataset(dataset, parts)
    initial = getattr(fl.models, model)(fed, seed=seed)
    rows = []
    for name, algorithm in ALGORITHMS.items():
        history = fl.simulate(
            fed,
            initial,
            algorithm,
            rounds=rounds,
            clients_per_round=10,
            local_epochs=5,
            batch_size=10,
            lr=lr,
            seed=seed,
        )
        last = history.frame.iloc[-1]
        rows.append(
            {
                "dataset": dataset.name,
                "model": model,
                "rounds": rounds,
                "lr": lr,
                "seed": seed,
                "algorithm": name,
                "test_accuracy": round(last.test_accuracy, 4),
                "megabytes": round((last.bytes_up + last.bytes_down) / 1e6, 1),
                "worst_decile": round(history.clients.worst_decile, 4),
                "seconds": round(last.seconds, 1),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--model", default="mlp", choices=("softmax_regression", "mlp", "cnn_mnist", "cnn_cifar"))
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, help="write one row per run to this CSV file")
    arguments = parser.parse_args()
    dataset = fl.load_dataset(arguments.dataset)
    rows = [
        row for seed in arguments.seeds for row in run(dataset, arguments.model, seed, arguments.rounds, arguments.lr)
    ]
    table = pd.DataFrame(rows)
    summary = table.groupby("algorithm", sort=False)[["test_accuracy", "worst_decile", "megabytes", "seconds"]]
    print(summary.agg(["mean", "std"]).round(3).to_string())
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(arguments.out, index=False)


if __name__ == "__main__":
    main()
