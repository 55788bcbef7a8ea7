"""The versions of the course for students and instructors, with the cell metadata of nbgrader (schema 3).

The answer of an exercise is a cell to write in; the task and the check are locked, and the check gives the points.
``student`` has no solutions. ``instructor`` has each solution in its answer cell, between the markers that
``nbgrader generate_assignment`` removes again.

The check cell is the same everywhere, ``exercises.check("02-prox-step", prox_step)``. It shows a verdict and raises no
error, so that unsolved notebooks run to the end; it raises only while nbgrader grades or validates.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedlab_course import folders
from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise, Proof

VERSIONS = ("student", "instructor")
SCHEMA = 3
PROOF = "Your proof."  # the text of a new cell for a proof


def build(version: str, out: Path, *, only: Sequence[str] = (), notebooks: Path | None = None) -> list[Path]:
    """Write the notebooks of a ``version`` ("student" or "instructor") to the folder ``out``; return their paths.

    ``only``: numbers or names. Raises ``ValueError`` before anything is written if the exercises in a notebook differ
    from the registered ones, or if ``out`` is a file or the folder of the notebooks.
    """
    import nbformat

    folder = notebooks or folders.NOTEBOOKS
    if version not in VERSIONS:
        raise ValueError(f"version={version!r}: must be one of {', '.join(VERSIONS)}")
    if out.resolve() == folder.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks of the course; name another folder")
    made = {out / path.name: convert(path, version) for path in folders.select(folder, only)}
    folders.make(out)
    for path, notebook in made.items():
        nbformat.write(notebook, path)
    return list(made)


def convert(path: Path, version: str) -> Any:
    """Read the notebook at ``path`` in a ``version``. Raises ``ValueError`` if it differs from the registry."""
    import nbformat

    notebook, exercises = nbformat.read(path, as_version=4), registry.of_chapter(path.stem)
    faults = cells.drift(notebook, exercises)
    if faults:
        raise ValueError(f"{path.name}: {'; '.join(faults)}. Run python -m fedlab_course.check")
    for exercise in exercises:
        if isinstance(exercise, Proof):
            _hand_in(notebook, exercise)
            continue
        _mark(notebook, exercise)
        if version == "instructor":
            _find(notebook, exercise, "answer").source = exercise.marked_source.strip()
    folded = {cells.cell_id(exercise, "solution") for exercise in exercises}
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") not in folded]
    for cell in notebook.cells:
        if cell.get("id") == cells.SECTION:
            cell.source = cell.source.replace(cells.FOLDED, "")
    return notebook


def _mark(notebook: Any, exercise: Exercise) -> None:
    """Add the metadata of nbgrader to the cells of an exercise."""
    roles: dict[str, dict[str, Any]] = {
        "task": {"grade": False, "solution": False, "locked": True},
        "answer": {"grade": False, "solution": True, "locked": False},
        "check": {"grade": True, "solution": False, "locked": True, "points": exercise.points},
    }
    for part, role in roles.items():
        cell = _find(notebook, exercise, part)
        common = {"grade_id": cell.id, "schema_version": SCHEMA, "cell_type": cell.cell_type, "task": False}
        cell.metadata["nbgrader"] = common | role


def _hand_in(notebook: Any, proof: Proof) -> None:
    """Add an answer cell below the task of a proof; a person grades it."""
    from nbformat.v4 import new_markdown_cell

    task = _find(notebook, proof, "task")
    common = {"schema_version": SCHEMA, "cell_type": "markdown", "task": False}
    task.metadata["nbgrader"] = common | {"grade_id": task.id, "grade": False, "solution": False, "locked": True}
    answer = new_markdown_cell(PROOF, id=cells.cell_id(proof, "answer"))
    role = {"grade": True, "solution": True, "locked": False, "points": proof.points}
    answer.metadata["nbgrader"] = common | {"grade_id": answer.id} | role
    notebook.cells.insert(notebook.cells.index(task) + 1, answer)


def _find(notebook: Any, exercise: Exercise | Proof, part: str) -> Any:
    return next(cell for cell in notebook.cells if cell.get("id") == cells.cell_id(exercise, part))
