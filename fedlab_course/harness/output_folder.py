"""The output folder of a run, which one run at a time uses.

During a run, ``summary.json`` has ``"finished": false`` and the results so far, and the site has no start page.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from fedlab_core import files
from fedlab_course import folders

SUMMARY = "summary.json"


@contextmanager
def claimed(out: Path, source: Path) -> Iterator[None]:
    """Make the folder ``out`` and lock it. Raises ``ValueError`` like :func:`make`, and if another run has it."""
    make(out, source)
    try:
        held = FileLock(out / ".lock").acquire(timeout=0)
    except Timeout:
        raise ValueError(f"--out {out}: another run writes there now; wait for it or name another folder") from None
    with held:
        yield


def make(out: Path, source: Path) -> None:
    """Make ``out`` and its folders. Raises ``ValueError`` if one cannot be written or is the folder ``source``."""
    folder = out / "notebooks"
    if folder.resolve() == source.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks in {folder}; name another folder")
    for each in (out, folder, out / "site"):
        folders.make(each)


def clear(out: Path) -> None:
    """Remove the start page, and the notebooks and pages of an earlier run.

    The summary first lists what will be removed: if the run is killed here, the next one removes the rest.
    """
    (out / "site" / "index.html").unlink(missing_ok=True)
    names = [Path(entry["name"]).name for entry in _entries(summary(out)) if isinstance(entry.get("name"), str)]
    write_summary(out, {"finished": False, "notebooks": [{"name": name, "status": "not run"} for name in names]})
    for name in names:
        (out / "notebooks" / f"{name}.ipynb").unlink(missing_ok=True)
        for page in (f"{name}.html", f"{name}_slides.html"):
            (out / "site" / page).unlink(missing_ok=True)


def write_summary(out: Path, written: dict[str, Any]) -> None:
    """Write ``summary.json`` atomically."""
    with files.replacing(out / SUMMARY) as file:
        file.write((json.dumps(written, indent=2, ensure_ascii=False) + "\n").encode())


def summary(out: Path) -> dict[str, Any]:
    """The content of ``summary.json`` in ``out``; empty if it is missing or damaged."""
    try:
        found = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def seconds(out: Path, profile: str) -> dict[str, float]:
    """The seconds of each notebook in the last run into ``out`` with the same profile."""
    found = summary(out)
    entries = [entry for entry in _entries(found) if isinstance(entry.get("seconds"), float) and entry["seconds"] > 0]
    return {str(entry.get("name")): entry["seconds"] for entry in entries if found.get("profile") == profile}


def _entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    listed = found.get("notebooks")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
