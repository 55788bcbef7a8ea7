"""What a course needs on top of the library: explorers, ideas, figures, theory, exercises, clinic, site, grading."""

from typing import Any

__all__ = ["Explorer", "chapter", "figures", "glossary", "goals", "ideas", "shows", "symbols", "theory"]


def __getattr__(name: str) -> Any:
    """The explorer is imported when it is asked for: the command line needs no widgets."""
    if name == "Explorer":
        from fedlab_course.explorer import Explorer

        return Explorer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
