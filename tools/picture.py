"""Draw docs/convergence.png, the picture of the README: ``python tools/picture.py`` (with the extra
``figures``).
"""

from pathlib import Path

import fedlab_core as fl

OUT = Path(__file__).resolve().parent.parent / "docs" / "convergence.png"
ALGORITHMS = {"FedAvg": fl.FedAvg(), "FedProx μ = 1": fl.FedProx(mu=1.0), "SCAFFOLD": fl.Scaffold()}


def main() -> None:
    digits = fl.load_dataset("digits")
    histories: dict[str, list[fl.History]] = {name: [] for name in ALGORITHMS}
    for seed in range(5):
        parts = fl.partition.labels_per_client(
            digits.train.y, num_clients=100, labels_per_client=2, seed=seed
        )
        fed = fl.FederatedDataset(digits, parts)
        model = fl.models.mlp(fed, seed=seed)
        for name, algorithm in ALGORITHMS.items():
            history = fl.simulate(
                fed,
                model,
                algorithm,
                rounds=50,
                clients_per_round=10,
                local_epochs=5,
                batch_size=10,
                lr=0.05,
                seed=seed,
                progress=False,
            )
            histories[name].append(history)
    figure = fl.plots.convergence(histories, title="Handwritten digits, two labels per client")
    figure.write_image(OUT, width=900, height=460, scale=1.5)


if __name__ == "__main__":
    main()
