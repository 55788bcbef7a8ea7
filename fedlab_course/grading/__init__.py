"""Grade submitted notebooks.

A notebook runs from top to bottom in a fresh kernel of its own, and errors in it do not stop it. Its code never runs
where it is judged: the kernel only answers calls of the functions that were handed in, and sends back plain values.
The checks, the solutions and what compares numbers are here, in another process, and the kernel has a copy of the
packages without them. Check cells are not run at all: edited, faked or deleted ones change nothing. Where the check
cell stands, the answer is judged; without it, after the answer.

Code that does not heed an interruption, or that ends the kernel, costs only its own exercise: the notebook runs again
without it, in a fresh kernel.

This is no sandbox: a submission is a program that runs with your rights. Grade strangers' notebooks in a container.
"""

from fedlab_course.grading.folder import grade_folder
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.one import grade, grade_notebook
from fedlab_course.grading.rows import GradingFailed, Row, report, total

__all__ = ["GradingFailed", "Limits", "Row", "grade", "grade_folder", "grade_notebook", "report", "total"]
