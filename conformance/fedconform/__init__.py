"""Is an implementation of a federated algorithm right? Small problems with known answers, for
anybody's code. NumPy is all that it needs.

    def run(task):                                   # an adapter, in a file my_adapter.py
        ...                                          # train with your implementation
        return [w after round 1, w after round 2]    # NumPy arrays [P]

    fedconform my_adapter.py                         # or fedconform.check(run)

The expected numbers come from the formulas of this package, not from a simulator. When numbers are
wrong, the report names the known mistakes that give exactly these numbers. Where a paper leaves
something open, it names the reading that gives them.
"""

from fedconform.checking import Adapter, check
from fedconform.report import Report, Row
from fedconform.tasks.task import Task

__version__ = "0.1.0"
__all__ = ["Adapter", "Report", "Row", "Task", "__version__", "check"]
