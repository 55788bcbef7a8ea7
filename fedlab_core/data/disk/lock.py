"""Let one process at a time do something, with a lock file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file ``path`` until the end of a ``with`` block, or until this process ends. The file stays.

    While another process holds the lock, wait for it and say on stderr that the wait is for ``what``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_held(path):
        print(f"waiting for another process that is writing {what}", file=sys.stderr, flush=True)
    with FileLock(path):
        yield


def is_held(path: Path) -> bool:
    """Tell whether a process holds the lock file ``path``."""
    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except PermissionError:  # a folder that can only be read
        return False
