"""Autograding with points from the course's grader."""

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    Execute,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
)
from traitlets import Float

from fedlab_course import grading
from fedlab_course.check import cells, exercises, registry

_LOST = "The notebook's kernel did not come to the end of this cell."


class Judged(Execute):
    """Run a submission for its readers, and write the verdicts of the course's grader into its
    check cells.

    nbgrader counts the outputs of a check cell: an error is no points, anything else is all. The
    exercises are judged also with ``--no-execute``, which leaves out the run.
    """

    grading_timeout = Float(
        120.0, help="Seconds for one cell while the grader runs a submission"
    ).tag(config=True)

    def __call__(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Call :meth:`preprocess`, also without execution."""
        return self.preprocess(nb, resources)

    def preprocess(self, nb: Any, resources: Any, km: Any = None) -> tuple[Any, Any]:
        """Return the notebook with its outputs and its verdicts. Raises ``GradingFailed`` if it
        cannot be judged.
        """
        known = {cells.cell_id(exercise, "check"): exercise.id for exercise in registry.every()}
        graded = {}  # exercise → its check cell
        for cell in filter(utils.is_grade, nb.cells):
            grade_id = cell.metadata.nbgrader.grade_id
            if grade_id in known:
                graded[known[grade_id]] = cell
        place = resources["metadata"]
        path = Path(place["path"], place["name"]).with_suffix(".ipynb")
        bounds = grading.Limits(cell=self.grading_timeout)
        rows = {row.exercise: row for row in (grading.grade(path, bounds) if graded else [])}
        if self.enabled:
            nb, resources = self._run(nb, resources, km)
        for exercise, cell in graded.items():
            row = rows[exercise]
            _write(cell, row)
            if row.remark:
                self.log.warning(
                    "%s, %s: %s", resources["nbgrader"]["student"], row.exercise, row.remark
                )
        return nb, resources

    def _run(self, nb: Any, resources: Any, km: Any) -> tuple[Any, Any]:
        """Run ``nb`` as nbgrader does. If the kernel ends, the cells from there on get an error."""
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        for cell in code:
            cell.outputs = []
            cell.execution_count = None
        try:
            return super().preprocess(nb, resources, km)
        except RuntimeError as error:  # nbclient's DeadKernelError among them
            self.log.warning(
                "The run that shows the work of %s stops: %s",
                resources["nbgrader"]["student"],
                error,
            )
        begun = [number for number, cell in enumerate(code) if cell.execution_count is not None]
        for cell in code[begun[-1] if begun else 0 :]:
            cell.outputs = [
                new_output("error", ename="KernelError", evalue=_LOST, traceback=[_LOST])
            ]
        return nb, resources


def _write(cell: Any, row: exercises.Verdict) -> None:
    """Write the verdict into the outputs of a check cell, for a reader and for nbgrader."""
    cell.outputs = [new_output("display_data", exercises.bundle(row))]
    if row.remark:
        cell.outputs.append(new_output("stream", name="stdout", text=f"Remark: {row.remark}\n"))
    if not row.points:
        words = [f"No points for {row.exercise}"]
        cell.outputs.append(
            new_output("error", ename="NotSolved", evalue=row.status, traceback=words)
        )


AUTOGRADE = [
    Judged,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
