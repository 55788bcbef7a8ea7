"""The course on top of the library: explorers, exercises, evidence, pages and grading."""

import importlib
from typing import Any

from fedlab_course import skipped

# Name → module, imported on demand because the command line needs no widgets.
_CLASSES = {
    "Explorer": "explore.explorer",
    "Playground": "playground",
    "compare": "comparison",
}
_PLACES = {
    "chapter": "chapter",
    "claims": "check.claims",
    "clinic": "chapters.ch07_bug_clinic",
    "exercises": "check.exercises",
    "glossary": "publish.glossary",
    "goals": "explore.goals",
    "ideas": "explore.ideas",
    "playground": "playground",
    "questions": "check.questions",
    "scene": "scene",
    "symbols": "publish.symbols",
    "theory": "theory",
}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(importlib.import_module(f"fedlab_course.{_CLASSES[name]}"), name)
    if name in _PLACES:
        return importlib.import_module(f"fedlab_course.{_PLACES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_CLASSES, *_PLACES]


skipped.install()
