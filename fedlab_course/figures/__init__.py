"""Figures that only the course needs, in the style of :mod:`fedlab_core.plots`: clusters, intervals, forgetting."""

from fedlab_course.figures.clusters import cluster_map, reachability
from fedlab_course.figures.importances import importance
from fedlab_course.figures.intervals import intervals
from fedlab_course.figures.leaks import label_moves, noise
from fedlab_course.figures.serving import serving
from fedlab_course.figures.tiers import forgetting, memory

__all__ = [
    "cluster_map",
    "forgetting",
    "importance",
    "intervals",
    "label_moves",
    "memory",
    "noise",
    "reachability",
    "serving",
]


def __dir__() -> list[str]:
    return __all__
