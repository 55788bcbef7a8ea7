"""Whether nbgrader runs this notebook."""

import os

VARIABLE = "NBGRADER_EXECUTION"  # nbgrader sets it while it grades or validates
_AT_IMPORT = VARIABLE in os.environ


def grading() -> bool:
    """Return whether nbgrader started this process. An answer may remove the variable, and this stays true."""
    return _AT_IMPORT or VARIABLE in os.environ
