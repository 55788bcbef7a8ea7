"""A course folder for nbgrader: ``nbgrader_config.py``, and one assignment for each chapter in ``source/NN``."""

from collections.abc import Sequence
from pathlib import Path

from fedlab_course import folders
from fedlab_course.publish import build

CONFIG = "nbgrader_config.py"
_TEXT = f'''\
"""What nbgrader must know of this course. Yours to change: building the course again leaves this file alone."""

try:
    from fedlab_course.grading.nbgrader import judged, restore
except ImportError as error:  # it would only be logged, and nbgrader would go on grading in its own way
    raise SystemExit(f"{CONFIG}: {{error}}. It needs the course's extras: pip install '.[course,nbgrader]'") from error

c = get_config()  # noqa: F821, nbgrader defines it

c.CourseDirectory.course_id = "federated-learning"

# What stands in a released notebook in place of a solution, and of a proof: the same as in the student's notebooks.
c.ClearSolutions.code_stub = {{"python": "..."}}
c.ClearSolutions.text_stub = "{build.PROOF}"

# Submissions are put right first. Then the points of the course's exercises come from the course's own grader, which
# does not believe what a submission did to its checks. Cells that you added yourself are graded as nbgrader does it.
c.Autograde.sanitize_preprocessors = restore.SANITIZE
c.Autograde.autograde_preprocessors = judged.AUTOGRADE

# Seconds for one cell: while the grader runs a submission, and while nbgrader runs it, to show its work in the
# feedback and to validate it. nbgrader's own 30 s and 4 s are not enough for a chapter on a busy machine.
c.Judged.grading_timeout = 300
c.Execute.timeout = 300
c.Execute.iopub_timeout = 60
c.Execute.startup_timeout = 300
'''


def write(out: Path, *, only: Sequence[str] = (), notebooks: Path | None = None) -> list[Path]:
    """Make the folder ``out`` a course of nbgrader's, and return the files written: configuration and notebooks.

    Each chapter is an assignment, ``source/02/02_fedprox.ipynb``, in the instructor's version. A configuration that is
    there already stays as it is. ``only``: numbers or names of chapters. Raises as ``build`` does.
    """
    folder = notebooks or folders.NOTEBOOKS
    written = []
    for path in folders.select(folder, only):
        assignment = out / "source" / path.stem[:2]
        written += build.build("instructor", assignment, only=[path.stem], notebooks=folder)
    config = out / CONFIG
    if not config.exists():
        config.write_text(_TEXT, encoding="utf-8")
        written.insert(0, config)
    return written
