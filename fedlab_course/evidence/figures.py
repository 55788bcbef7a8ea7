"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course.evidence import bands, charts, forest, mixes, tables
from fedlab_course.evidence.bands import Chart


@dataclass(frozen=True)
class Figure:
    """A figure of a source: its title, and a chart of stored curves or a function of its title."""

    title: str
    chart: Chart | None = None
    function: Callable[[str], go.Figure] | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """The stored tables that it needs."""
        return self.chart.tables if self.chart else ()


def missing(name: str, folder: Path = tables.TABLES) -> list[str]:
    """The tables that a figure needs and that are not there. Raises ``ValueError`` for an unknown figure."""
    needed = FIGURES[validation.choice("figure", name, FIGURES)].tables
    return [table for table in needed if not (folder / f"{table}.csv").is_file()]


def drawable(folder: Path = tables.TABLES) -> list[str]:
    """The figures whose tables are all there, in order."""
    return [name for name in FIGURES if not missing(name, folder)]


def draw(name: str, folder: Path = tables.TABLES) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are not there."""
    lacking = missing(name, folder)
    if lacking:
        raise ValueError(f"figure={name!r}: cannot be drawn, {', '.join(lacking)} has not been measured yet")
    one = FIGURES[name]
    if one.chart:
        return bands.draw(one.chart, one.title, folder)
    assert one.function is not None  # a figure has one of the two
    return one.function(one.title)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """Draw a figure of stored curves with a thick curve of a live run in front. Raises as :func:`draw`."""
    figure = draw(name)
    chart = FIGURES[name].chart
    if chart is None:
        raise ValueError(f"figure={name!r}: holds no curves by round")
    bands.add_live(figure, history, label, chart.measure)
    return figure


_DECAYING = "0.05/(1+t)"
FIGURES = {
    "verdicts": Figure("All statements, by claim", function=lambda title: forest.forest(title=title)),
    "000-digits": Figure("Two labels a client, digits", charts.illustrated("drift_digits")),
    "000-mnist": Figure("Two labels a client, MNIST", charts.illustrated("drift_mnist")),
    "001-digits": Figure("FedProx by μ, digits", charts.proximal("drift_digits")),
    "001-cnn": Figure("FedProx by μ, CNN on MNIST", charts.proximal("cnn_mnist")),
    "002-3": Figure("Labels of the first ten clients, digits", function=lambda title: mixes.mixes(title=title)),
    "002-4-digits": Figure("Tiers, one label a client, digits", charts.tiers("tiers_digits")),
    "002-4-mnist": Figure("Tiers, one label a client, MNIST", charts.tiers("tiers_mnist")),
    "002-5-digits": Figure("Dirichlet α = 0.3, digits", charts.dirichlet("table1_digits")),
    "002-5-mnist": Figure("Dirichlet α = 0.3, MNIST", charts.dirichlet("table1_mnist")),
    "002-6-cifar10": Figure("Dirichlet α = 0.3, CIFAR-10", charts.dirichlet("table1_cifar10")),
    "004-3-digits": Figure("Training loss, digits", charts.losses("epochs_digits", "0.05", charts.FIVE_DIGITS)),
    "004-3-mnist": Figure("Training loss, MNIST", charts.losses("curves_mnist", "0.01", {"table": "curves5_mnist"})),
    "004-3-cifar10": Figure(
        "Training loss, CIFAR-10", charts.losses("curves_cifar10", "0.01", {"table": "curves5_cifar10"})
    ),
    "004-3-sentiment140": Figure("Training loss, Sentiment140", charts.losses("curves_sentiment140", "0.01")),
    "004-4-digits": Figure("FedAvg by E, digits", charts.epochs("epochs_digits", "fedavg", "FedAvg", "0.05", 20)),
    "004-4-mnist": Figure("FedAvg by E, MNIST", charts.epochs("epochs_mnist", "fedavg", "FedAvg", None, 10)),
    "004-5-digits": Figure("FedSSO by E, digits", charts.epochs("epochs_digits", "fedsso", "FedSSO", _DECAYING, 20)),
    "004-5-mnist": Figure("FedSSO by E, MNIST", charts.epochs("epochs_mnist", "fedsso", "FedSSO", None, 10)),
}
