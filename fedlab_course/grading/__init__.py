"""Grade submitted notebooks.

Each submission has a judge in a process of its own, with the checks and the solutions. Its code
runs in another process, whose copy of the packages has neither. That process runs all cells but the
checks, is asked to call the answers, and sends back plain values. After a cell that ends its
process, or is late, the notebook runs again without it. This is not a sandbox: a submission runs
with your rights. Grade the work of strangers in a container.
"""

from fedlab_course.grading.limits import Limits, user_number
from fedlab_course.grading.points_table import report, total
from fedlab_course.grading.submissions import GradingFailed, grade, grade_folder

__all__ = ["GradingFailed", "Limits", "grade", "grade_folder", "report", "total", "user_number"]
