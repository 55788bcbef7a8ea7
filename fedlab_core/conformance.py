"""Is an implementation of a federated algorithm right? ``check`` runs anybody's code on small
problems with known answers.

The suite is a package of its own, ``fedconform``, which needs NumPy alone.
"""

from fedconform import Adapter, Report, Row, Task, check

__all__ = ["Adapter", "Report", "Row", "Task", "check"]
