"""All clients of a cohort at once; start reading in engine.py."""

from fedlab_core.engines.stacked.engine import StackedEngine, Unstackable

__all__ = ["StackedEngine", "Unstackable"]
