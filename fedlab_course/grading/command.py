"""What ``python -m fedlab_course grade`` does."""

import argparse
import os
import sys

from fedlab_core.engines import cores
from fedlab_course.grading import folder, table
from fedlab_course.grading.limits import Limits


def grade(options: argparse.Namespace) -> int:
    """Grade a notebook and print its report, or with ``csv`` all below a folder. Return the exit status.

    0 if everything was graded, 1 if a submission could not be. Raises ``ValueError`` for arguments that do not fit.
    """
    path, csv = options.path, options.csv
    if path.is_dir() and csv is None:
        raise ValueError(f"{path}: is a folder. Name one notebook, or a table to write with --csv TABLE")
    if csv is not None and not path.is_dir():
        raise ValueError(f"--csv {csv}: is for a folder of notebooks, and {path} is not a folder")
    given = {"cell": options.timeout, "total": options.total, "memory": options.memory, "user": _number(options.user)}
    bounds = Limits(**{name: value for name, value in given.items() if value is not None})
    try:
        if csv is None:
            print(table.report(folder.grade(path, bounds)))
            return 0
        problems = folder.grade_folder(path, csv, options.jobs or cores.usable(), bounds)
    except folder.GradingFailed as failure:
        print(f"error: {path}: {failure}", file=sys.stderr)
        return 1
    print(f"table: {csv}")
    for problem in problems:
        print(f"error: not graded: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _number(user: str | None) -> int | None:
    """Return the number of the user with this name. Raises ``ValueError`` if there is none, or if we are not root."""
    if user is None:
        return None
    if os.name != "posix" or os.geteuid() != 0:
        raise ValueError(f"--user {user}: only root can run code as another user")
    import pwd

    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise ValueError(f"--user {user}: there is no such user") from None
