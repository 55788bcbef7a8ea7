"""Files that are whole or not there: written beside their place, locked meanwhile, and moved there when finished."""

import contextlib
import os
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A new file that takes the place of ``path`` when the block ends; if the block fails, the old file stays.

    A link is followed. What processes left that were killed in such a block for the same file is removed first.
    """
    target = destination(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    temporary, file = _create_beside(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":
                os.replace(temporary, target)  # still locked: nobody takes it for a leftover
        if sys.platform == "win32":
            os.replace(temporary, target)  # an open file cannot be moved there
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _keep_name(target.parent)


def destination(path: str | Path) -> Path:
    """The file that ``path`` means, behind links. ``OSError`` if it is there and is not a regular file."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{path} cannot be written: it is {'a folder' if target.is_dir() else 'not a regular file'}")
    return target


def remove_leftovers(path: str | Path) -> None:
    """Remove what processes have left that were killed while they wrote ``path``; not what is being written now."""
    target = destination(path)
    pattern = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{32}")
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        if not pattern.fullmatch(file.name):
            continue
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                file.unlink()  # fails while somebody has it open
            else:
                with file.open("r+b") as found:
                    fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while somebody writes it
                    file.unlink()


def _create_beside(target: Path) -> tuple[Path, IO[bytes]]:
    """A new file in the same folder, locked until it is closed or its process ends."""
    while True:
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        file = temporary.open("xb")
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # a file system without locks: nothing is removed there either
                fcntl.flock(file, fcntl.LOCK_EX)
        if temporary.exists():  # else it was taken for a leftover before it was locked
            return temporary, file
        file.close()


def _keep_name(folder: Path) -> None:
    """Let a new name in ``folder`` outlive a crash of the machine, where the system can do that."""
    with contextlib.suppress(OSError):  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
