"""Figures of runs and partitions, as plain ``plotly.graph_objects.Figure``.

Each algorithm has the same colour, dash and marker in every figure. ``describe(figure)`` is the
figure in words.
"""

from fedlab_core.plots.curves import convergence, drift
from fedlab_core.plots.per_client import clients, partition
from fedlab_core.plots.rates import rates
from fedlab_core.plots.style import describe

__all__ = ["clients", "convergence", "describe", "drift", "partition", "rates"]
