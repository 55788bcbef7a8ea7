"""Restore the released cells of a submission before it is graded: their roles, their points, and
missing cells.
"""

from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell
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
    """Give each cell the metadata of its release, from the gradebook, and add graded cells that are
    missing.

    nbgrader stops at a copied cell. A cell is known by its ``grade_id`` or id; of several, the last
    counts.
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
            chosen = _chosen(nb, marks)
            for source in released.source_cells:
                name = source.name
                if name not in chosen and marks[name]["grade"]:
                    make = {"code": new_code_cell, "markdown": new_markdown_cell}[source.cell_type]
                    chosen[name] = make(source.source)
                    nb.cells.append(chosen[name])
                if name in chosen:
                    chosen[name]["id"] = name
                    chosen[name].metadata["nbgrader"] = marks[name]
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
        marks_of_cell = cell.metadata.pop("nbgrader", None)
        name = marks_of_cell.get("grade_id") if isinstance(marks_of_cell, dict) else None
        name = name if isinstance(name, str) and name in marks else cell.get("id")
        if name in marks:
            chosen[name] = cell
        if cell.get("id") in {None, *marks}:
            cell["id"] = random_cell_id()
    return chosen


SANITIZE = [
    Restore,
    ClearOutput,
    DeduplicateIds,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
