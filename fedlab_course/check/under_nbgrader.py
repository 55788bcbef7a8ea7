"""Whether nbgrader grades or validates here, and what it takes for a failure."""

import contextlib
import os
import sys
from pathlib import Path

VARIABLE = "NBGRADER_EXECUTION"  # set by nbgrader while it grades or validates, and by nobody else
_STARTED_WITH = Path("/proc/self/environ")  # on Linux: what this process was started with, whatever became of it since


def grading() -> bool:
    """Whether nbgrader started this process: an answer may take the variable away, but not that it was there."""
    return _AT_IMPORT or VARIABLE in os.environ


def _at_import() -> bool:
    started_with = _STARTED_WITH.read_bytes() if _STARTED_WITH.exists() else b""
    return VARIABLE in os.environ or f"{VARIABLE}=".encode() in started_with


_AT_IMPORT = _at_import()


def no_standard_error() -> contextlib.AbstractContextManager[object]:
    """What is printed to standard error inside goes to standard output: nbgrader takes the former for a failure."""
    return contextlib.redirect_stderr(sys.stdout)
