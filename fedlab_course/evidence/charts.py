"""Which stored curves each figure of the sources is drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_course.evidence import tables

Where = Mapping[str, Any]
Drawn = tuple[str, Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Chart:
    """Curves of the sweep ``table``: the rows with the values of a panel and of a line are one curve.

    ``lines``: name → column values, or a ``table`` of its own; ``panels``: title → column values. ``illustration``:
    line → (name, rounds, values) of a curve that a source has drawn and not measured, dotted in the first panel.
    """

    title: str
    table: str
    measure: str
    lines: Mapping[str, Where]
    panels: Mapping[str, Where] = field(default_factory=lambda: {"": {}})
    illustration: Mapping[str, Drawn] = field(default_factory=dict)

    def curve(self, panel: str, line: str, folder: Path) -> pd.DataFrame:
        """``round``, ``mean``, ``std`` and ``n`` of one curve. Raises ``ValueError`` if it is not there."""
        own = {**self.panels[panel], **self.lines[line]}
        name = f"{own.pop('table', self.table)}_curves"
        rows = tables.matching(name, own, folder).sort_values("round")
        return rows.rename(columns={f"{self.measure}_{what}": what for what in ("mean", "std")})


# Curves that the sources have drawn and not measured: line → (name, rounds, values). [001] has ten values for the
# eleven rounds of μ = 0; which one is missing is not known, and that curve is left out.
_ROUNDS_000 = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
_ROUNDS_001 = [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
ILLUSTRATION_000: Mapping[str, Drawn] = {
    "FedAvg": ("FedAvg", _ROUNDS_000, [0.1, 0.25, 0.38, 0.48, 0.55, 0.60, 0.63, 0.65, 0.67, 0.68, 0.69]),
    "FedProx μ = 0.1": ("FedProx", _ROUNDS_000, [0.1, 0.35, 0.55, 0.68, 0.75, 0.79, 0.82, 0.84, 0.85, 0.86, 0.87]),
    "SCAFFOLD": ("SCAFFOLD", _ROUNDS_000, [0.1, 0.45, 0.68, 0.80, 0.86, 0.89, 0.91, 0.92, 0.925, 0.93, 0.93]),
}
_DRAWN_001: Mapping[str, Drawn] = {
    "FedProx μ = 0.1": ("μ = 0.1", _ROUNDS_001, [0.25, 0.60, 0.75, 0.81, 0.85, 0.88, 0.90, 0.91, 0.915, 0.92, 0.92]),
    "FedProx μ = 0.01": ("μ = 0.01", _ROUNDS_001, [0.30, 0.68, 0.82, 0.87, 0.90, 0.91, 0.92, 0.925, 0.93, 0.93, 0.935]),
}

_SKEWS: Mapping[str, Where] = {
    "two shards a client": {"shards_per_client": 2},
    "one shard a client": {"shards_per_client": 1},
}
_ALL_SKEWS: Mapping[str, Where] = {"IID": {"partition": "iid"}, **_SKEWS}
_PARAMETERS: Mapping[str, Where] = {  # of the lines that are named for an algorithm, to tell its rows apart
    "FedProx μ = 0.01": {"mu": 0.01},
    "FedProx μ = 0.1": {"mu": 0.1},
    "FedAvgMas": {"strength": 0.01},
    "FedMas": {"strength": 0.01},
    "FedMas λ = 0.01": {"strength": 0.01},
}
_LINES_000 = ("FedAvg", "FedProx μ = 0.1", "SCAFFOLD")
_LINES_001 = ("FedAvg (μ = 0)", "FedProx μ = 0.1", "FedProx μ = 0.01")
_TIERS = ("FedAvg", "FedAvgMas", "TFedAvg", "FedMas")  # [002], figure 4
_DIRICHLET = ("FedAvg", "FedCurv λ = 2", "FedProx μ = 0.2", "SCAFFOLD", "FedMas λ = 0.01")  # figures 5 and 6


def _accuracy(
    title: str, table: str, names: tuple[str, ...], drawn: Mapping[str, Drawn] | None = None, **where: Any
) -> Chart:
    lines = {name: {"algorithm": name.split()[0].lower(), **_PARAMETERS.get(name, {})} for name in names}
    return Chart(title, table, "test_accuracy", lines, {"": where}, drawn or {})


def _losses(
    title: str, table: str, rate: str, panels: Mapping[str, Where] = _SKEWS, five: Where | None = None, **one: int
) -> Chart:
    """[004], figure 3: training loss. ``five``: rows of FedSSO with E = 5; ``one``: values of the rows with E = 1."""
    decaying = f"{rate}/(1+t)"
    lines: dict[str, Where] = {
        "FedAvg": {"algorithm": "fedavg", "lr": rate, **one},
        "FedAvg, decaying η": {"algorithm": "fedavg", "lr": decaying, **one},
        "FedProx": {"algorithm": "fedprox", "lr": rate, **one},
        "FedSSO, decaying η": {"algorithm": "fedsso", "lr": decaying, **one},
    }
    if five is not None:
        lines["FedSSO, decaying η, E = 5"] = five
    return Chart(title, table, "train_loss", lines, panels)


def _epochs(title: str, table: str, name: str, most: int, **own: str) -> Chart:
    """[004], figures 4 and 5: training loss of one algorithm for E = 1, 5 and ``most``, panels by skew."""
    lines: dict[str, Where] = {
        f"{name} E = {number}": {"algorithm": name.lower(), "local_epochs": number, **own} for number in (1, 5, most)
    }
    return Chart(title, table, "train_loss", lines, _ALL_SKEWS)


_FIVE = {"algorithm": "fedsso", "local_epochs": 5, "lr": "0.05/(1+t)"}
CHARTS: Mapping[str, Chart] = {  # by the name of the figure
    "000-digits": _accuracy(
        "Two labels a client, digits", "drift_digits", _LINES_000, ILLUSTRATION_000, labels_per_client=2
    ),
    "000-mnist": _accuracy("Two labels a client, MNIST", "drift_mnist", _LINES_000, ILLUSTRATION_000),
    "001-digits": _accuracy("FedProx by μ, digits", "drift_digits", _LINES_001, _DRAWN_001, labels_per_client=2),
    "001-cnn": _accuracy("FedProx by μ, CNN on MNIST", "cnn_mnist", _LINES_001, _DRAWN_001),
    "002-4-digits": _accuracy("Tiers, one label a client, digits", "tiers_digits", _TIERS, tiers=""),
    "002-4-mnist": _accuracy("Tiers, one label a client, MNIST", "tiers_mnist", _TIERS),
    "002-5-digits": _accuracy("Dirichlet α = 0.3, digits", "table1_digits", _DIRICHLET, alpha=0.3),
    "002-5-mnist": _accuracy("Dirichlet α = 0.3, MNIST", "table1_mnist", _DIRICHLET, alpha=0.3),
    "002-6-cifar10": _accuracy("Dirichlet α = 0.3, CIFAR-10", "table1_cifar10", _DIRICHLET, alpha=0.3),
    "004-3-digits": _losses("Training loss, digits", "epochs_digits", "0.05", five=_FIVE, local_epochs=1),
    "004-3-mnist": _losses("Training loss, MNIST", "curves_mnist", "0.01", five={"table": "curves5_mnist"}),
    "004-3-cifar10": _losses("Training loss, CIFAR-10", "curves_cifar10", "0.01", five={"table": "curves5_cifar10"}),
    "004-3-sentiment140": _losses("Training loss, Sentiment140", "curves_sentiment140", "0.01", {"": {}}),
    "004-4-digits": _epochs("FedAvg by E, digits", "epochs_digits", "FedAvg", 20, lr="0.05"),
    "004-4-mnist": _epochs("FedAvg by E, MNIST", "epochs_mnist", "FedAvg", 10),
    "004-5-digits": _epochs("FedSSO by E, digits", "epochs_digits", "FedSSO", 20, lr="0.05/(1+t)"),
    "004-5-mnist": _epochs("FedSSO by E, MNIST", "epochs_mnist", "FedSSO", 10),
}
