"""Is an implementation of a federated algorithm right? Small problems with known answers, for anybody's code.

    def run(task):                                   # an adapter, in a file my_adapter.py
        ...                                          # train with the implementation that is to be checked
        return [w after round 1, w after round 2]    # NumPy arrays [P]

    python -m fedlab_core conform my_adapter.py      # or fl.conformance.check(run)

The expected numbers come from the formulas of this package, not from the simulator. When numbers are wrong, the
report names the known mistakes that give exactly these numbers.
"""

from fedlab_core.conformance.checking import Adapter, check
from fedlab_core.conformance.report import Report, Row
from fedlab_core.conformance.task import Task

__all__ = ["Adapter", "Report", "Row", "Task", "check"]
