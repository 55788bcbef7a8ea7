"""Figures that only the course needs, in the style of :mod:`fedlab_core.plots`: what tiers still know, what matters."""

from fedlab_course.figures.importances import importance
from fedlab_course.figures.tiers import forgetting, memory

__all__ = ["forgetting", "importance", "memory"]


def __dir__() -> list[str]:
    return __all__
