"""The versions of the course for students and instructors, with the cell metadata of nbgrader (schema 3).

Tasks and checks are locked; the check gives the points. ``student`` has no solutions. ``instructor`` has each solution
in its answer cell, between the markers that ``nbgrader generate_assignment`` removes again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_course import folders
from fedlab_course.check import cells, registry
from fedlab_course.check.base import Proof

VERSIONS = ("student", "instructor")
PROOF = "Your proof."  # the text of a new cell for a proof
_LOCKED = {"grade": False, "solution": False, "locked": True}


def build(version: str, out: Path, *, only: Sequence[str] = (), notebooks: Path | None = None) -> list[Path]:
    """Write the notebooks of a ``version`` ("student" or "instructor") to the folder ``out``; return their paths.

    ``only``: numbers or names. Raises ``ValueError`` before anything is written if the exercises in a notebook differ
    from the registered ones, or if ``out`` is a file or the folder of the notebooks.
    """
    validation.choice("version", version, VERSIONS)
    folder = notebooks or folders.NOTEBOOKS
    return write(out, folder, {path.name: convert(path, version) for path in folders.select(folder, only)})


def write(out: Path, source: Path, notebooks: dict[str, Any]) -> list[Path]:
    """Write ``notebooks``, by name, to ``out``. Raises ``ValueError`` if it is a file or the folder ``source``."""
    import nbformat

    if out.resolve() == source.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks of the course; name another folder")
    folders.make(out)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, out / name)
    return [out / name for name in notebooks]


def convert(path: Path, version: str) -> Any:
    """Read the notebook at ``path`` in a ``version``. Raises ``ValueError`` if it differs from the registry."""
    import nbformat
    from nbformat.v4 import new_markdown_cell

    notebook, exercises = nbformat.read(path, as_version=4), registry.of_chapter(path.stem)
    faults = cells.drift(notebook, exercises)
    if faults:
        raise ValueError(f"{path.name}: {'; '.join(faults)}. Run python -m fedlab_course.check")
    by_id = {cell.get("id"): cell for cell in notebook.cells}
    for exercise in exercises:
        task = by_id[cells.cell_id(exercise, "task")]
        _mark(task, **_LOCKED)
        if isinstance(exercise, Proof):  # an answer cell below its task; a person grades it
            answer = new_markdown_cell(PROOF, id=cells.cell_id(exercise, "answer"))
            _mark(answer, grade=True, solution=True, locked=False, points=exercise.points)
            notebook.cells.insert(notebook.cells.index(task) + 1, answer)
            continue
        answer, check = (by_id[cells.cell_id(exercise, part)] for part in ("answer", "check"))
        _mark(answer, grade=False, solution=True, locked=False)
        _mark(check, grade=True, solution=False, locked=True, points=exercise.points)
        if version == "instructor":
            answer.source = exercise.marked_source.strip()
    folded = {cells.cell_id(exercise, "solution") for exercise in exercises}
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") not in folded]
    if cells.SECTION in by_id:
        by_id[cells.SECTION].source = by_id[cells.SECTION].source.replace(cells.FOLDED, "")
    return notebook


def _mark(cell: Any, **role: Any) -> None:
    """Add the metadata of nbgrader."""
    common = {"grade_id": cell.id, "schema_version": 3, "cell_type": cell.cell_type, "task": False}
    cell.metadata["nbgrader"] = common | role
