"""What ``python -m fedlab_course grade`` does."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from fedlab_core.engines import cores
from fedlab_course.grading import folder, result
from fedlab_course.grading.limits import Limits


def grade(
    path: Path,
    csv: Path | None = None,
    jobs: int | None = None,
    timeout: int | None = None,
    total: int | None = None,
    memory: int | None = None,
    user: str | None = None,
) -> int:
    """Grade a notebook and print its report, or with ``csv`` all below a folder. Return the exit status.

    0 if everything was graded, 1 if a submission could not be. Raises ``ValueError`` for arguments that do not fit.
    """
    if path.is_dir() and csv is None:
        raise ValueError(f"{path}: is a folder. Name one notebook, or a table to write with --csv TABLE")
    if csv is not None and not path.is_dir():
        raise ValueError(f"--csv {csv}: is for a folder of notebooks, and {path} is not a folder")
    if jobs is not None and csv is None:
        raise ValueError(f"--jobs {jobs}: is for a folder of notebooks, with --csv")
    if csv is not None and not csv.resolve().parent.is_dir():
        raise ValueError(f"--csv {csv}: there is no folder {csv.parent}")
    given = {name: value for name, value in (("total", total), ("memory", memory)) if value is not None}
    bounds = replace(Limits().with_timeout(timeout), **given, user=_number(user))
    try:
        if csv is None:
            print(result.report(folder.grade(path, bounds=bounds)))
            return 0
        problems = folder.grade_folder(path, csv, jobs or cores.usable(), bounds)
    except result.GradingFailed as failure:
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
