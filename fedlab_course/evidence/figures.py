"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course.evidence import bands, charts, configs, forest, judging, mixes, tables
from fedlab_course.evidence.bands import Chart

Draw = Callable[[str, Path], go.Figure]


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn again: its title, what it is in the source, and the stored ``tables`` it needs."""

    title: str
    source: str
    function: Draw
    tables: tuple[str, ...] = ()
    chart: Chart | None = None


def missing(name: str, folder: Path = tables.TABLES) -> list[str]:
    """The tables that a figure needs and that are not there. Raises ``ValueError`` for an unknown figure."""
    needed = FIGURES[validation.choice("figure", name, FIGURES)].tables
    return [table for table in needed if not (folder / f"{table}.csv").is_file()]


def drawable(folder: Path = tables.TABLES) -> list[str]:
    """The figures whose tables are all there, in order."""
    return [name for name in FIGURES if not missing(name, folder)]


def draw(name: str, folder: Path = tables.TABLES) -> go.Figure:
    """The figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables have not been measured."""
    lacking = missing(name, folder)
    if lacking:
        raise ValueError(f"figure={name!r}: cannot be drawn, {', '.join(lacking)} has not been measured yet")
    return FIGURES[name].function(FIGURES[name].title, folder)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """A figure of stored curves with the curve of a live run, thick, before them. Raises as :func:`draw`."""
    figure = draw(name)
    chart = FIGURES[name].chart
    if chart is None:
        raise ValueError(f"figure={name!r}: holds no curves by round")
    bands.add_live(figure, history, label, chart.measure)
    return figure


def _bands(title: str, source: str, chart: Chart) -> Figure:
    return Figure(title, source, partial(_draw_bands, chart), chart.tables, chart)


def _draw_bands(chart: Chart, title: str, folder: Path) -> go.Figure:
    return bands.draw(chart, title, folder)


def _mixes(title: str, folder: Path) -> go.Figure:
    return mixes.mixes(title=title)


def _verdicts(title: str, folder: Path) -> go.Figure:
    judged = judging.stored() if folder == tables.TABLES else judging.judge(configs.read(), folder)
    return forest.forest(judged, title=title)


FIGURES: dict[str, Figure] = {
    "verdicts": Figure("All statements, by claim", "[000] to [004] and other papers", _verdicts),
    "000-digits": _bands("Two labels a client, digits", "[000], figure", charts.illustrated("drift_digits")),
    "000-mnist": _bands("Two labels a client, MNIST", "[000], figure", charts.illustrated("drift_mnist")),
    "001-digits": _bands("FedProx by μ, digits", "[001], figure", charts.proximal("drift_digits")),
    "001-cnn": _bands("FedProx by μ, CNN on MNIST", "[001], figure", charts.proximal("cnn_mnist")),
    "002-3": Figure("Labels of the first ten clients, digits", "[002], figure 3", _mixes),
    "002-4-digits": _bands("Tiers, one label a client, digits", "[002], figure 4", charts.tiers("tiers_digits")),
    "002-4-mnist": _bands("Tiers, one label a client, MNIST", "[002], figure 4", charts.tiers("tiers_mnist")),
    "002-5-digits": _bands("Dirichlet α = 0.3, digits", "[002], figures 5, 6", charts.dirichlet("table1_digits")),
    "002-5-mnist": _bands("Dirichlet α = 0.3, MNIST", "[002], figure 5", charts.dirichlet("table1_mnist")),
    "002-6-cifar10": _bands("Dirichlet α = 0.3, CIFAR-10", "[002], figure 6", charts.dirichlet("table1_cifar10")),
    "004-3-digits": _bands(
        "Training loss, digits", "[004], figure 3", charts.losses("epochs_digits", "0.05", charts.FIVE_DIGITS)
    ),
    "004-3-mnist": _bands(
        "Training loss, MNIST", "[004], figure 3", charts.losses("curves_mnist", "0.01", {"table": "curves5_mnist"})
    ),
    "004-3-cifar10": _bands(
        "Training loss, CIFAR-10",
        "[004], figure 3",
        charts.losses("curves_cifar10", "0.01", {"table": "curves5_cifar10"}),
    ),
    "004-3-sentiment140": _bands(
        "Training loss, Sentiment140", "[004], figure 3", charts.losses("curves_sentiment140", "0.01")
    ),
    "004-4-digits": _bands(
        "FedAvg by E, digits", "[004], figure 4", charts.epochs("epochs_digits", "fedavg", "FedAvg", "0.05", 20)
    ),
    "004-4-mnist": _bands(
        "FedAvg by E, MNIST", "[004], figure 4", charts.epochs("epochs_mnist", "fedavg", "FedAvg", None, 10)
    ),
    "004-5-digits": _bands(
        "FedSSO by E, digits", "[004], figure 5", charts.epochs("epochs_digits", "fedsso", "FedSSO", "0.05/(1+t)", 20)
    ),
    "004-5-mnist": _bands(
        "FedSSO by E, MNIST", "[004], figure 5", charts.epochs("epochs_mnist", "fedsso", "FedSSO", None, 10)
    ),
}
