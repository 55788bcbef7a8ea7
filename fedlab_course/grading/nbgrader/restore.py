"""Put the cells of a submission right before it is graded: their roles, their points, and those that are missing."""

from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell
from nbformat.v4.nbbase import random_cell_id
from nbgrader import utils
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
    """Gives each cell the metadata that it was released with, as the gradebook has it, and adds lost graded cells.

    nbgrader itself believes a submission what is graded, and stops grading the whole class at metadata of another
    version or at a copied cell. A cell is known by its ``grade_id`` or by its id. Of several with one name, the last
    that differs from what was released is the answer; the others are cells like any other.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The submitted notebook ``nb``, put right in place."""
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            try:
                released = gradebook.find_notebook(
                    resources["nbgrader"]["notebook"], resources["nbgrader"]["assignment"]
                )
            except MissingEntry:  # a notebook of the student's own, which nbgrader skips
                return nb, resources
            marks = {cell.name: _marks(released, cell) for cell in released.source_cells}
            chosen = _chosen(nb, marks)
            nb.nbformat_minor = max(nb.nbformat_minor, 5)  # from there on cells have ids
            for cell in nb.cells:
                cell.metadata.pop("nbgrader", None)
                cell["id"] = random_cell_id() if cell.get("id") in {None, *marks} else cell["id"]
            for name, cell in chosen.items():
                cell["id"], cell.metadata["nbgrader"] = name, marks[name]
            self._add_missing(nb, released, marks, chosen)
        return nb, resources

    def _add_missing(self, nb: Any, released: Any, marks: dict[str, Any], chosen: dict[str, Any]) -> None:
        """Add the graded cells that ``nb`` lacks, each below the cell that stood above it."""
        above = None
        for source in released.source_cells:
            name = source.name
            if name not in chosen and marks[name]["grade"]:
                self.log.warning("Cell %s is missing from the submission, and is put back", name)
                made = {"code": new_code_cell, "markdown": new_markdown_cell}[source.cell_type]
                chosen[name] = made(source.source, id=name, metadata={"nbgrader": marks[name]})
                place = next((i + 1 for i, cell in enumerate(nb.cells) if cell is above), len(nb.cells))
                nb.cells.insert(place, chosen[name])
            above = chosen.get(name, above)


def _marks(released: Any, source: Any) -> dict[str, Any]:
    """The metadata of one cell of the ``released`` notebook."""
    graded = {cell.name: cell for cell in released.grade_cells}
    tasks = {cell.name: cell for cell in released.task_cells}
    marks = {
        "grade_id": source.name,
        "grade": source.name in graded,
        "solution": source.name in {cell.name for cell in released.solution_cells},
        "task": source.name in tasks,
        "locked": bool(source.locked),
        "cell_type": source.cell_type,
        "checksum": source.checksum,
        "schema_version": MetadataValidator.schema_version,
    }
    worth = graded.get(source.name) or tasks.get(source.name)
    return marks | ({"points": worth.max_score} if worth else {})


def _chosen(nb: Any, marks: dict[str, Any]) -> dict[str, Any]:
    """The cell of each released name that the submission has."""
    chosen: dict[str, Any] = {}
    for cell in nb.cells:
        found = cell.metadata.get("nbgrader")
        name = found.get("grade_id") if isinstance(found, dict) else None
        name = name if isinstance(name, str) and name in marks else cell.get("id")
        if name in marks and (name not in chosen or _changed(cell, marks[name])):
            chosen[name] = cell
    return chosen


def _changed(cell: Any, marks: dict[str, Any]) -> bool:
    """Whether a cell differs from the one released."""
    like = type(cell)({**cell, "metadata": type(cell)({"nbgrader": type(cell)(marks)})})
    return bool(utils.compute_checksum(like) != marks["checksum"])


SANITIZE = [Restore, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
