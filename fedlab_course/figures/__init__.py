"""Figures that only the course needs, in the style of :mod:`fedlab_core.plots`: clusters, intervals, forgetting,
quadratics, divergence."""

from fedlab_course.figures.clusters import cluster_map, reachability
from fedlab_course.figures.divergence import divergence
from fedlab_course.figures.importances import importance
from fedlab_course.figures.intervals import intervals
from fedlab_course.figures.quadratics import parabolas, resting_points
from fedlab_course.figures.tiers import forgetting, memory

__all__ = [
    "cluster_map",
    "divergence",
    "forgetting",
    "importance",
    "intervals",
    "memory",
    "parabolas",
    "reachability",
    "resting_points",
]


def __dir__() -> list[str]:
    return __all__
