"""The explorer: choose algorithms and settings, watch them train, compare."""

from fedlab_course.explorer.explorer import Explorer

__all__ = ["Explorer"]
