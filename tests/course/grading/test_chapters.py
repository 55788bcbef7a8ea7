"""Whole sheets: everything solved gets all points, everything untouched none."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course import folders, grading
from fedlab_course.check import cells, exercises
from tests.course.grading.conftest import BENCH, IMPORTS

EVERY = exercises.every()


@pytest.mark.parametrize(("filled", "status"), [("solution_source", "solved"), ("stub_source", "open")])
def test_the_exercises_of_all_chapters(filled: str, status: str) -> None:
    notebook = new_notebook(cells=[new_code_cell(f"{IMPORTS}, exercises\n{BENCH}", id="imports")])
    for exercise in EVERY:
        task, answer, check, _ = cells.make(exercise, 1)
        answer.source = getattr(exercise, filled)
        notebook.cells += [task, answer, check]
    rows = grading.grade_notebook(notebook, timeout=120)
    assert {row.exercise: row.status for row in rows} == {exercise.id: status for exercise in EVERY}
    points = sum(exercise.points for exercise in EVERY)
    assert grading.total(rows) == (points if status == "solved" else 0, points)
    assert not any(row.remark for row in rows)


def test_a_whole_chapter_solved() -> None:
    [path] = folders.NOTEBOOKS.glob("02_*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    held = {cells.cell_id(e, "answer"): e for e in EVERY if e.chapter == "02"}
    for cell in notebook.cells:
        if cell.id in held:
            cell.source = held[cell.id].solution_source
    rows = grading.grade_notebook(notebook, timeout=300)
    assert [(row.status, row.remark) for row in rows] == [("solved", "")] * len(held)


def test_a_cell_that_needs_a_solved_exercise_gets_no_solution() -> None:
    """``or_solution`` hands over the answer itself: the stub returns nothing, so what follows sees nothing."""
    seen = "def cut(patient, seed):\n    return other(patient, seed)"
    sources = ["from fedlab_course import exercises", exercises.get("09-clones").stub_source]
    sources += ['other = exercises.or_solution("09-clones", clones)', seen]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    notebook.cells[-1].id = cells.cell_id(exercises.get("09-cut"), "answer")
    rows = {row.exercise: row for row in grading.grade_notebook(notebook)}
    assert rows["09-cut"].status == "wrong"
    assert "get None" in rows["09-cut"].hint
