"""Figures that several chapters use, in the style of :mod:`fedlab_core.plots`."""

from fedlab_course.figures.intervals import intervals
from fedlab_course.figures.resting_points import resting_points
from fedlab_course.figures.tiers import forgetting, memory

__all__ = ["forgetting", "intervals", "memory", "resting_points"]
