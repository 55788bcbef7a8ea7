"""Figures that only the course needs, in the style of :mod:`fedlab_core.plots`."""

from fedlab_course.figures.clusters import cluster_map, reachability
from fedlab_course.figures.eps import eps_sweep
from fedlab_course.figures.importances import importance
from fedlab_course.figures.intervals import intervals
from fedlab_course.figures.tiers import forgetting, memory
from fedlab_course.figures.tradeoff import tradeoff

__all__ = ["cluster_map", "eps_sweep", "forgetting", "importance", "intervals", "memory", "reachability", "tradeoff"]


def __dir__() -> list[str]:
    return __all__
