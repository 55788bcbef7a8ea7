"""The folder that a run writes to: one run at a time, and nothing in it that a killed run would leave untrue.

While a run is on its way, ``summary.json`` says ``"finished": false`` and holds what is done so far; the site has no
start page.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fedlab_course import folders

SUMMARY = "summary.json"


@contextmanager
def claimed(out: Path, source: Path) -> Iterator[None]:
    """Make ``out`` ready to be written, for this run alone, while the ``with`` block lasts.

    Raises ``ValueError`` as :func:`make` does, and if another run has it. The lock goes with the process that holds
    it, however that ends.
    """
    make(out, source)
    with (out / ".lock").open("a+") as file:
        try:
            _lock(file)
        except BlockingIOError:
            raise ValueError(f"--out {out}: another run writes there now; wait for it or name another folder") from None
        yield


def make(out: Path, source: Path) -> None:
    """Make ``out`` and the folders in it.

    Raises ``ValueError`` if one cannot be written, and if executed notebooks would land in ``source``.
    """
    folder = out / "notebooks"
    if folder.resolve() == source.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks in {folder}; name another folder")
    for each in (out, folder, out / "site"):
        folders.make(each)


def clear(out: Path) -> None:
    """Remove the start page, and the notebooks and pages that an earlier run left.

    From the first step on, the summary tells of nothing that is gone, and still names what is to be removed.
    """
    (out / "site" / "index.html").unlink(missing_ok=True)
    names = [Path(entry["name"]).name for entry in _entries(summary(out)) if isinstance(entry.get("name"), str)]
    write_summary(out, {"finished": False, "notebooks": [{"name": name, "status": "not run"} for name in names]})
    for name in names:
        (out / "notebooks" / f"{name}.ipynb").unlink(missing_ok=True)
        for page in (f"{name}.html", f"{name}_slides.html"):
            (out / "site" / page).unlink(missing_ok=True)


def write_summary(out: Path, written: dict[str, Any]) -> None:
    """Write ``summary.json``: the old one stays until the new one is whole."""
    temporary = out / f".{SUMMARY}"
    temporary.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, out / SUMMARY)


def summary(out: Path) -> dict[str, Any]:
    """What ``summary.json`` in ``out`` holds; nothing if there is none that can be read."""
    try:
        found = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def seconds(out: Path, profile: str) -> dict[str, float]:
    """The seconds that each notebook took when it was run into ``out`` the last time, in the same profile."""
    found = summary(out)
    entries = [entry for entry in _entries(found) if isinstance(entry.get("seconds"), float) and entry["seconds"] > 0]
    return {str(entry.get("name")): entry["seconds"] for entry in entries if found.get("profile") == profile}


def _entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    listed = found.get("notebooks")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


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
