"""Figures of the course, as plain ``plotly.graph_objects.Figure``.

One style for all: each algorithm keeps its colour, dash and marker from figure to figure, so that no meaning rests on
colour alone. ``describe(figure)`` is the figure in words, for readers who do not see it.
"""

from fedlab_core.plots.accuracy import clients
from fedlab_core.plots.curves import convergence, drift
from fedlab_core.plots.holdings import partition
from fedlab_core.plots.style import describe

__all__ = ["clients", "convergence", "describe", "drift", "partition"]


def __dir__() -> list[str]:
    return __all__
