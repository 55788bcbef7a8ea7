"""The course on top of the library: explorers, exercises, evidence, pages and grading."""

import importlib
from typing import Any

# Name → module, imported on demand because the command line needs no widgets.
_PLACES = {
    "chapter": "chapter",
    "claims": "check.claims",
    "clinic": "chapters.ch09_bug_clinic",
    "exercises": "check.exercises",
    "figures": "explore.figures",
    "glossary": "publish.glossary",
    "goals": "explore.goals",
    "ideas": "explore.ideas",
    "questions": "check.questions",
    "shows": "explore.shows",
    "symbols": "publish.symbols",
    "theory": "theory",
}


def __getattr__(name: str) -> Any:
    if name == "Explorer":
        return importlib.import_module("fedlab_course.explore.explorer").Explorer
    if name in _PLACES:
        return importlib.import_module(f"fedlab_course.{_PLACES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["Explorer", *_PLACES]
