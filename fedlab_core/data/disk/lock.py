"""One process at a time: a lock file that the system gives free when its holder ends, even when it is killed."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PAUSE = 0.1  # seconds between two looks at a lock that another process holds


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file ``path``, made with its folder, and remove it at the end.

    While another process holds it, wait, and say once on stderr that it is for ``what``. Raises ``OSError`` where the
    file cannot be made or locked.
    """
    said = False
    while (handle := _try(path)) is None:
        if not said:
            print(f"waiting for another process that is writing {what}", file=sys.stderr, flush=True)
        said = True
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows keeps a file while it is open
            path.unlink(missing_ok=True)
        os.close(handle)


def is_held(path: Path) -> bool:
    """Whether some process holds the lock file ``path``."""
    if not path.exists():
        return False
    if (handle := _try(path)) is None:
        return True
    with suppress(PermissionError):
        path.unlink(missing_ok=True)
    os.close(handle)
    return False


def _try(path: Path) -> int | None:
    """The handle of the locked file, or None if another process has it, or has just removed it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = None
    with suppress(FileNotFoundError):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(BlockingIOError, *([PermissionError] if sys.platform == "win32" else [])):
            _lock(handle)
            if os.path.samestat(os.fstat(handle), path.stat()):  # a removed file can be locked, too
                return handle
    if handle is not None:
        os.close(handle)
    return None
