"""The folder that a run writes to: one run at a time, and nothing in it that a killed run would leave untrue.

While a run is on its way, ``summary.json`` says ``"finished": false`` and holds what is done so far; the site has no
start page.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fedlab_course import folders

SUMMARY = "summary.json"


@contextmanager
def claimed(out: Path, source: Path) -> Iterator[None]:
    """Make ``out`` ready to be written, for this run alone, while the ``with`` block lasts.

    Raises ``ValueError`` if it cannot be written, if executed notebooks would land in ``source``, and if another run
    has it. The lock goes with the process that holds it, however that ends.
    """
    folder = out / "notebooks"
    if folder.resolve() == source.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks in {folder}; name another folder")
    for each in (out, folder, out / "site"):
        folders.make(each)
    with (out / ".lock").open("a+") as file:
        try:
            _lock(file)
        except BlockingIOError:
            raise ValueError(f"--out {out}: another run writes there now; wait for it or name another folder") from None
        yield


def clear(out: Path) -> None:
    """Remove the start page, and the notebooks and pages that an earlier run left.

    From the first step on, the summary tells of nothing that is gone, and still names what is to be removed.
    """
    (out / "site" / "index.html").unlink(missing_ok=True)
    names = _names(out / SUMMARY)
    write_summary(out, {"finished": False, "notebooks": [{"name": name, "status": "not run"} for name in names]})
    for name in names:
        (out / "notebooks" / f"{name}.ipynb").unlink(missing_ok=True)
        (out / "site" / f"{name}.html").unlink(missing_ok=True)


def write_summary(out: Path, summary: dict[str, Any]) -> None:
    """Write ``summary.json``: the old one stays until the new one is whole."""
    temporary = out / f".{SUMMARY}"
    temporary.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, out / SUMMARY)


def _names(summary: Path) -> Sequence[str]:
    try:
        return [Path(entry["name"]).name for entry in json.loads(summary.read_text(encoding="utf-8"))["notebooks"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _lock(file: IO[str]) -> None:
    """Lock an open file until it is closed. Raises ``BlockingIOError`` if another process has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
