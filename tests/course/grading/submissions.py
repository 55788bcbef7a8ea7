"""Submissions: the exercises of chapter 0, or of all
chapters, with other answers and other cells.
"""

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise
from fedlab_course.check.exercises import Verdict

EVERY = registry.every()
CHAPTER = [one for one in EVERY if one.chapter == "00"]
STEP, TRAINING, POINT = CHAPTER
IMPORTS = """\
import math
from dataclasses import replace
import numpy as np
import torch
from scipy.stats import norm
import fedlab_core as fl
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic.bench import draw, end, same, start
from fedlab_course.check import exercises"""
SOLVED = {exercise.id: exercise.solution_source for exercise in EVERY}


def submission(
    path: Path,
    answers: dict[str, str],
    before: Sequence[str] = (),
    of: Sequence[Exercise] = CHAPTER,
    change=None,
) -> Path:
    """Write a notebook with the exercises ``of`` a chapter. ``answers``: id → source, else the
    stub. ``before``: cells below the imports. ``change``: gets the list of all cells.
    """
    made = [new_code_cell(source, id=f"before-{i}") for i, source in enumerate([IMPORTS, *before])]
    for number, exercise in enumerate(of, start=1):
        task, answer, check, _ = cells.make(exercise, number)
        answer.source = answers.get(exercise.id, answer.source)
        made += [task, answer, check]
    if change:
        change(made)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=made), path)
    return path


def statuses(rows: list[Verdict]) -> list[str]:
    return [row.status for row in rows]


def returning(exercise: Exercise, body: str) -> str:
    """An answer with the first line of the exercise and another body."""
    head = exercise.stub_source.splitlines()[0]
    return f"{head}\n    {body}\n"
