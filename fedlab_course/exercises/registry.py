"""All exercises, found in the files ``chapter_NN.py`` of this folder."""

import importlib
from functools import cache
from pathlib import Path

from fedlab_core import validation
from fedlab_course.exercises.base import Exercise, Proof


@cache
def _all() -> tuple[Exercise | Proof, ...]:
    """All of them, in the order of the chapters. Raises ``ValueError`` for an id in the wrong file or used twice."""
    found: dict[str, Exercise | Proof] = {}
    for path in sorted(Path(__file__).parent.glob("chapter_[0-9][0-9].py")):
        for exercise in importlib.import_module(f"{__package__}.{path.stem}").EXERCISES:
            if exercise.id in found or not path.stem.endswith(exercise.chapter):
                raise ValueError(f"{path.name}: exercise id {exercise.id!r} is used twice or names another chapter")
            found[exercise.id] = exercise
    return tuple(found.values())


def every() -> tuple[Exercise, ...]:
    """All exercises that are checked, in the order of the chapters: not the proofs. Raises as a wrong file asks for."""
    return tuple(exercise for exercise in _all() if isinstance(exercise, Exercise))


def of_chapter(notebook: str) -> list[Exercise | Proof]:
    """The exercises of a notebook and its proofs, given its name or number, such as "02_fedprox"."""
    return [exercise for exercise in _all() if notebook[:2] == exercise.chapter]


def get(name: str) -> Exercise:
    """The exercise with this id. Raises ``ValueError`` that lists the ids there are."""
    by_id = {exercise.id: exercise for exercise in every()}
    return by_id[validation.choice("exercise", name, by_id)]
