"""A course folder for nbgrader: ``nbgrader_config.py``, and one assignment for each chapter in
``source/NN``.
"""

from collections.abc import Sequence
from pathlib import Path

from fedlab_course import folders
from fedlab_course.publish import build

CONFIG = "nbgrader_config.py"
_TEXT = f'''\
"""The configuration of nbgrader for this course.

You may change it: building the course again keeps this file.
"""

try:
    from fedlab_course.grading.nbgrader import judged, restore
except ImportError as error:  # nbgrader would only log it, and grade in its own way
    raise SystemExit(
        f"{CONFIG}: {{error}}. It needs the course's extras: pip install '.[course,nbgrader]'"
    ) from error

c = get_config()  # noqa: F821, nbgrader defines it

c.CourseDirectory.course_id = "federated-learning"

# The text in place of a solution, and of a proof, is the same as in the student's notebooks.
c.ClearSolutions.code_stub = {{"python": "..."}}
c.ClearSolutions.text_stub = "{build.PROOF}"

# The released cells are restored first. The points of the course's exercises come from the course's
# grader, whatever a submission did to its checks. nbgrader grades the cells that you added.
c.Autograde.sanitize_preprocessors = restore.SANITIZE
c.Autograde.autograde_preprocessors = judged.AUTOGRADE

# Seconds for one cell, in the grader and in nbgrader's own run, which shows the work in the
# feedback. nbgrader's defaults of 30 s and 4 s are not enough for a chapter on a busy machine.
c.Judged.grading_timeout = 300
c.Execute.timeout = 300
c.Execute.iopub_timeout = 60
c.Execute.startup_timeout = 300
'''


def write(out: Path, *, only: Sequence[str] = (), notebooks: Path | None = None) -> list[Path]:
    """Write a course folder of nbgrader to ``out``, and return the files written; a configuration
    is kept.

    Each chapter is an assignment, ``source/02/02_fedprox.ipynb``, in the instructor's version.
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
