"""Submissions of chapter 2, with its exercises alone."""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.check import cells, exercises
from fedlab_course.check.exercises import Exercise
from fedlab_course.grading import Row

CHAPTER = [one for one in exercises.every() if one.chapter == "02"]
STEP, TRAINING, POINT = CHAPTER
IMPORTS = "import numpy as np\nfrom fedlab_course import exercises"
SOLVED = {exercise.name: exercise.solution_source for exercise in CHAPTER}
Change = Callable[[list], None]


def submission(folder: Path, *, change: Change | None = None, name: str = "02_fedprox", **answers: str) -> Path:
    """A notebook of chapter 2 with its exercises alone; ``answers``: function name → source, else the stub."""
    made = [new_code_cell(IMPORTS, id="imports")]
    for number, exercise in enumerate(CHAPTER, start=1):
        task, answer, check, _ = cells.make(exercise, number)
        answer.source = answers.get(exercise.name, answer.source)
        made += [task, answer, check]
    if change:
        change(made)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=made), path)
    return path


def cell(made: list, exercise: Exercise, part: str):
    return next(each for each in made if each.get("id") == cells.cell_id(exercise, part))


def statuses(rows: list[Row]) -> dict[str, str]:
    return {row.exercise: row.status for row in rows}


def points(rows: list[Row]) -> int:
    return sum(row.points for row in rows)
