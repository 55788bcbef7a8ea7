"""What a course needs in addition to the library: explorers, exercises, evidence, pages and grading."""

import importlib
from typing import Any

# Name → where it is. Imported on demand: the command line needs no widgets.
_PLACES = {
    "claims": "fedlab_course.check.claims",
    "clinic": "fedlab_course.chapters.ch09_bug_clinic",
    "exercises": "fedlab_course.check.exercises",
    "questions": "fedlab_course.check.questions",
    "glossary": "fedlab_course.publish.glossary",
    "symbols": "fedlab_course.publish.symbols",
}
__all__ = ["Explorer", "chapter", "figures", "goals", "ideas", "shows", "theory", *_PLACES]


def __getattr__(name: str) -> Any:
    if name == "Explorer":
        from fedlab_course.explorer import Explorer

        return Explorer
    if name in _PLACES:
        return importlib.import_module(_PLACES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
