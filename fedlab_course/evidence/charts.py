"""Which stored curves the figures of the sources are drawn from."""

from collections.abc import Mapping
from typing import Any

from fedlab_course.evidence.bands import Chart, Where

# Curves that the sources have drawn and not measured: line → (name, rounds, values). [001] has ten values for the
# eleven rounds of μ = 0; which one is missing is not known, and that curve is left out.
_ROUNDS_000 = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
_ROUNDS_001 = [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
_DRAWN_000 = {
    "FedAvg": [0.1, 0.25, 0.38, 0.48, 0.55, 0.60, 0.63, 0.65, 0.67, 0.68, 0.69],
    "FedProx μ = 0.1": [0.1, 0.35, 0.55, 0.68, 0.75, 0.79, 0.82, 0.84, 0.85, 0.86, 0.87],
    "SCAFFOLD": [0.1, 0.45, 0.68, 0.80, 0.86, 0.89, 0.91, 0.92, 0.925, 0.93, 0.93],
}
_DRAWN_001 = {
    "μ = 0.1": [0.25, 0.60, 0.75, 0.81, 0.85, 0.88, 0.90, 0.91, 0.915, 0.92, 0.92],
    "μ = 0.01": [0.30, 0.68, 0.82, 0.87, 0.90, 0.91, 0.92, 0.925, 0.93, 0.93, 0.935],
}
ILLUSTRATION_000 = {line: (line.partition(" ")[0], _ROUNDS_000, values) for line, values in _DRAWN_000.items()}
ILLUSTRATION_001 = {f"FedProx {name}": (name, _ROUNDS_001, values) for name, values in _DRAWN_001.items()}

FIVE_DIGITS: Where = {"algorithm": "fedsso", "local_epochs": 5, "lr": "0.05/(1+t)"}
SKEWS: Mapping[str, Where] = {
    "two shards a client": {"partition": "shards", "shards_per_client": 2},
    "one shard a client": {"partition": "shards", "shards_per_client": 1},
}
ALL_SKEWS: Mapping[str, Where] = {"IID": {"partition": "iid"}, **SKEWS}
_ONLY_SHARDS = {name: {"shards_per_client": where["shards_per_client"]} for name, where in SKEWS.items()}


def illustrated(table: str) -> Chart:
    """[000]: FedAvg, FedProx and SCAFFOLD with two labels a client, and the curves that the source draws."""
    lines: dict[str, Where] = {
        "FedAvg": {"algorithm": "fedavg"},
        "FedProx μ = 0.1": {"algorithm": "fedprox", "mu": 0.1},
        "SCAFFOLD": {"algorithm": "scaffold"},
    }
    return Chart(**_two_labels(table), lines=lines, illustration=ILLUSTRATION_000)


def proximal(table: str) -> Chart:
    """[001]: FedAvg and FedProx at two μ with two labels a client, and the curves that the source draws."""
    lines: dict[str, Where] = {
        "FedAvg (μ = 0)": {"algorithm": "fedavg"},
        "FedProx μ = 0.1": {"algorithm": "fedprox", "mu": 0.1},
        "FedProx μ = 0.01": {"algorithm": "fedprox", "mu": 0.01},
    }
    return Chart(**_two_labels(table), lines=lines, illustration=ILLUSTRATION_001)


def _two_labels(table: str) -> dict[str, Any]:
    panels = {"": {"labels_per_client": 2} if table == "drift_digits" else {}}
    return {"table": table, "measure": "test_accuracy", "panels": panels}


def tiers(table: str) -> Chart:
    """[002], figure 4: tiers and the penalty of Memory Aware Synapses, apart and together."""
    own = {"tiers": ""} if table == "tiers_digits" else {}
    lines: dict[str, Where] = {
        "FedAvg": {"algorithm": "fedavg"},
        "FedAvgMas": {"algorithm": "fedavgmas", "strength": 0.01},
        "TFedAvg": {"algorithm": "tfedavg"},
        "FedMas": {"algorithm": "fedmas", "strength": 0.01, **own},
    }
    return Chart(table=table, measure="test_accuracy", lines=lines)


def dirichlet(table: str) -> Chart:
    """[002], figures 5 and 6: four methods at α = 0.3, and FedAvg."""
    lines: dict[str, Where] = {
        "FedAvg": {"algorithm": "fedavg"},
        "FedCurv λ = 2": {"algorithm": "fedcurv"},
        "FedProx μ = 0.2": {"algorithm": "fedprox"},
        "SCAFFOLD": {"algorithm": "scaffold"},
        "FedMas λ = 0.01": {"algorithm": "fedmas", "strength": 0.01},
    }
    return Chart(table=table, measure="test_accuracy", lines=lines, panels={"": {"alpha": 0.3}})


def losses(table: str, rate: str, five: Where | None = None) -> Chart:
    """[004], figure 3: training loss, FedSSO at its decaying rate, the others at a constant one, E = 1.

    FedAvg at the decaying rate stands beside them, which the source leaves out. ``five``: where FedSSO with E = 5 is.
    """
    decaying = f"{rate}/(1+t)"
    one = {"local_epochs": 1} if table == "epochs_digits" else {}
    lines: dict[str, Where] = {
        "FedAvg": {"algorithm": "fedavg", "lr": rate, **one},
        "FedAvg, decaying η": {"algorithm": "fedavg", "lr": decaying, **one},
        "FedProx": {"algorithm": "fedprox", "lr": rate, **one},
        "FedSSO, decaying η": {"algorithm": "fedsso", "lr": decaying, **one},
    }
    if five is not None:
        lines["FedSSO, decaying η, E = 5"] = five
    panels: dict[str, Mapping[str, Where]] = {"epochs_digits": SKEWS, "curves_sentiment140": {"": {}}}
    return Chart(table=table, measure="train_loss", lines=lines, panels=panels.get(table, _ONLY_SHARDS))


def epochs(table: str, algorithm: str, name: str, rate: str | None, most: int) -> Chart:
    """[004], figures 4 and 5: training loss of one algorithm for E = 1, 5 and ``most``, panels by skew.

    ``rate``: of the rows, where a table has several.
    """
    own = {} if rate is None else {"lr": rate}
    lines: dict[str, Where] = {
        f"{name} E = {number}": {"algorithm": algorithm, "local_epochs": number, **own} for number in (1, 5, most)
    }
    return Chart(table=table, measure="train_loss", lines=lines, panels=ALL_SKEWS)
