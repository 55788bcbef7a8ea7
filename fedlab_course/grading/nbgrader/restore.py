"""Restore the roles and the points of the released cells of a submission before it is graded."""

from typing import Any

from nbformat.v4.nbbase import random_cell_id
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)


class Restore(NbGraderPreprocessor):
    """Give each cell the metadata of its release, from the gradebook.

    nbgrader trusts the metadata of a submission, and stops grading the class at a copied cell. A cell is known by its
    ``grade_id`` or by its id; of several, the last counts.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Restore the submitted notebook ``nb`` in place."""
        given = resources["nbgrader"]
        with Gradebook(given["db_url"]) as gradebook:
            try:
                released = gradebook.find_notebook(given["notebook"], given["assignment"])
            except MissingEntry:  # nbgrader skips other notebooks
                return nb, resources
            marks = {cell.name: _marks(released, cell) for cell in released.source_cells}
            nb.nbformat_minor = max(nb.nbformat_minor, 5)  # from there on cells have ids
            for name, cell in _chosen(nb, marks).items():
                cell["id"], cell.metadata["nbgrader"] = name, marks[name]
        return nb, resources


def _marks(released: Any, source: Any) -> dict[str, Any]:
    """Return the metadata of one cell of the ``released`` notebook."""
    points = {cell.name: cell.max_score for cell in (*released.grade_cells, *released.task_cells)}
    marks = {
        "grade_id": source.name,
        "grade": source.name in {cell.name for cell in released.grade_cells},
        "solution": source.name in {cell.name for cell in released.solution_cells},
        "task": source.name in {cell.name for cell in released.task_cells},
        "locked": bool(source.locked),
        "cell_type": source.cell_type,
        "checksum": source.checksum,
        "schema_version": MetadataValidator.schema_version,
    }
    return marks | ({"points": points[source.name]} if source.name in points else {})


def _chosen(nb: Any, marks: dict[str, Any]) -> dict[str, Any]:
    """Return the last cell of each released name, and make all cells of ``nb`` anonymous."""
    chosen: dict[str, Any] = {}
    for cell in nb.cells:
        found = cell.metadata.pop("nbgrader", None)
        name = found.get("grade_id") if isinstance(found, dict) else None
        name = name if isinstance(name, str) and name in marks else cell.get("id")
        if name in marks:
            chosen[name] = cell
        if cell.get("id") in {None, *marks}:
            cell["id"] = random_cell_id()
    return chosen


SANITIZE = [Restore, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
