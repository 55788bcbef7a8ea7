"""Grade submitted notebooks.

Each submission has a judge in a process of its own, with the checks and the solutions. The code of the submission runs
in another process, with a copy of the packages that has neither. That process runs the cells from top to bottom, is
asked to call the answers, and sends back plain values. An answer is judged after its check cell; check cells are not
run. A cell that ends its process, or is late, costs its own exercise: the notebook runs again without it. Whoever
started the judge waits, and kills it with everything below it at a limit.

This is not a sandbox: a submission runs with your rights. Grade the work of strangers in a container.
"""

from fedlab_course.grading.folder import GradingFailed, grade, grade_folder
from fedlab_course.grading.limits import Limits, user_number
from fedlab_course.grading.table import Row, report, total

__all__ = ["GradingFailed", "Limits", "Row", "grade", "grade_folder", "report", "total", "user_number"]
