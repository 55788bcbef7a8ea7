"""All exercises: each chapter's folder has their code in ``exercises.py`` and their words in
``exercises.toml``.
"""

import importlib
import re
from dataclasses import replace
from functools import cache

from fedlab_core import validation
from fedlab_course import outline, words
from fedlab_course.check.base import Exercise, Proof


@cache
def _all() -> tuple[Exercise | Proof, ...]:
    """All of them, in the order of the chapters."""
    return tuple(exercise for chapter in outline.CHAPTERS for exercise in _of(chapter))


def _of(chapter: outline.Chapter) -> list[Exercise | Proof]:
    """The exercises of a chapter in the order of its words. Raises ``ValueError`` if code and words
    do not match.
    """
    code = importlib.import_module(f"fedlab_course.chapters.{chapter.folder.name}.exercises")
    coded = {exercise.id: exercise for exercise in code.EXERCISES}
    path = chapter.folder / "exercises.toml"
    try:
        written = words.read(path, code.__name__)["exercise"]
        exercises: list[Exercise | Proof] = [
            Proof(**entry) if "solution" in entry else replace(coded.pop(entry["id"]), **entry)
            for entry in written
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: {error!r}") from error
    if coded:
        raise ValueError(f"{path}: has no words for {', '.join(coded)}")
    for exercise in exercises:
        if not re.fullmatch(rf"{chapter.number}(-[a-z0-9]+)+", exercise.id):
            raise ValueError(f"{path}: id={exercise.id!r}: must be {chapter.number}- and a name")
    return exercises


def every() -> tuple[Exercise, ...]:
    """All exercises that are checked, in the order of the chapters: not the proofs. Raises as a
    wrong file asks for.
    """
    return tuple(exercise for exercise in _all() if isinstance(exercise, Exercise))


def of_chapter(notebook: str) -> list[Exercise | Proof]:
    """The exercises of a notebook and its proofs, given its name or number, such as
    "02_fedprox".
    """
    return [exercise for exercise in _all() if notebook[:2] == exercise.chapter]


def get(name: str) -> Exercise:
    """The exercise with this id. Raises ``ValueError`` that lists the ids there are."""
    by_id = {exercise.id: exercise for exercise in every()}
    return by_id[validation.choice("exercise", name, by_id)]
