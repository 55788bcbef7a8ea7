"""What a course needs on top of the library: explorers, ideas, figures, theory, exercises, clinic, site, grading."""

import importlib
from typing import Any

__all__ = ["Explorer", "chapter", "figures", "glossary", "goals", "ideas", "shows", "symbols", "theory"]


def __getattr__(name: str) -> Any:
    """Import what a notebook names when it is used: the command line needs no widgets."""
    if name == "Explorer":
        return importlib.import_module("fedlab_course.explore.explorer").Explorer
    if name in ("figures", "goals", "ideas", "shows"):
        return importlib.import_module(f"fedlab_course.explore.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
