"""Whether nbgrader runs this notebook, and what it takes for a failure."""

import contextlib
import os
import sys

VARIABLE = "NBGRADER_EXECUTION"  # nbgrader sets it while it grades or validates
_AT_IMPORT = VARIABLE in os.environ


def grading() -> bool:
    """Return whether nbgrader started this process. An answer may remove the variable, and this stays true."""
    return _AT_IMPORT or VARIABLE in os.environ


def no_standard_error() -> contextlib.AbstractContextManager[object]:
    """Print to standard output what is printed to standard error: nbgrader takes the latter for a failure."""
    return contextlib.redirect_stderr(sys.stdout)
