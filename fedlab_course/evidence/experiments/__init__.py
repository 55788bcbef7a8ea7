"""Experiments that are no sweep of the library's algorithms over named data: exact cases, controls and tuned rates."""

from fedlab_course.evidence.experiments.base import Experiment
from fedlab_course.evidence.experiments.collecting import collect, gathered, missing
from fedlab_course.evidence.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment", "collect", "gathered", "missing"]
