"""Figures that only the course needs, in the style of :mod:`fedlab_core.plots`: clusters, cohorts and others."""

from fedlab_course.figures.clusters import cluster_map, reachability
from fedlab_course.figures.cohorts import missing, rests_by_presence, variances
from fedlab_course.figures.divergence import divergence
from fedlab_course.figures.eps import eps_sweep
from fedlab_course.figures.importances import importance
from fedlab_course.figures.intervals import intervals
from fedlab_course.figures.leaks import label_moves, noise
from fedlab_course.figures.paths import paths
from fedlab_course.figures.power_laws import power_laws
from fedlab_course.figures.prices import three_axes
from fedlab_course.figures.quadratics import parabolas
from fedlab_course.figures.resting_points import resting_points
from fedlab_course.figures.serving import serving
from fedlab_course.figures.tiers import forgetting, memory
from fedlab_course.figures.tradeoff import tradeoff

__all__ = [
    "cluster_map",
    "divergence",
    "eps_sweep",
    "forgetting",
    "importance",
    "intervals",
    "label_moves",
    "memory",
    "missing",
    "noise",
    "parabolas",
    "paths",
    "power_laws",
    "reachability",
    "resting_points",
    "rests_by_presence",
    "serving",
    "three_axes",
    "tradeoff",
    "variances",
]


def __dir__() -> list[str]:
    return __all__
