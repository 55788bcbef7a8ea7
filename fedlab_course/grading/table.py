"""The table of a class: a CSV file with a row for each submission."""

import csv
import hashlib
import io
import os
from collections.abc import Sequence
from pathlib import Path

from fedlab_core import files
from fedlab_course.grading.result import Row, clean, total

FIRST, LAST = ["student", "submission"], ["total", "of", "remarks", "digest"]


def safe(text: str) -> str:
    """Return ``text`` as one line that no spreadsheet takes for a formula: students choose the names of files."""
    line = clean(text)
    return f"'{line}" if line.startswith(("=", "+", "-", "@", "'")) else line


def key(name: str) -> str:
    """Return the name of a submission in the table. Two names have two keys, also where they look alike."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return safe(name) if clean(name) == name else f"{safe(name)} [{digest}]"


class Table:
    """The table at ``path``, which may exist. Raises ``ValueError`` if the file is another table."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = self._read()

    def has(self, submission: str, digest: str) -> bool:
        """Return whether this version of the submission has points already."""
        row = self._rows.get(key(submission), {})
        return row.get("digest") == digest and bool(row.get("total"))

    def add(self, student: str, submission: str, digest: str, rows: Sequence[Row], problem: str) -> None:
        """Write a submission with its ``rows``, or with the ``problem`` that it has.

        The file is read again first: another run may have added rows.
        """
        row = {"student": safe(student), "submission": key(submission), "digest": digest}
        row |= {each.exercise: str(each.points) for each in rows}
        if not problem:
            row |= dict(zip(("total", "of"), map(str, total(rows)), strict=True))
        said = [f"{each.exercise}: {each.remark}" for each in rows if each.remark]
        row["remarks"] = safe(" ".join([problem, *said]).strip())
        with files.locked(self._path.with_name(f".{self._path.name}.lock")):
            self._rows = self._read() | {row["submission"]: row}
            self._write()

    def _read(self) -> dict[str, dict[str, str]]:
        if not self._path.exists():
            return {}
        try:
            with self._path.open(newline="", encoding="utf-8-sig") as file:
                reader = csv.DictReader(file)
                names, rows = list(reader.fieldnames or []), list(reader)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"--csv {self._path}: cannot be read ({error})") from error
        if names[:2] != FIRST or names[-4:] != LAST:
            raise ValueError(f"--csv {self._path}: is another table. Name a new file, or a table that grade wrote")
        return {row["submission"]: row for row in rows}

    def _write(self) -> None:
        exercises = sorted({name for row in self._rows.values() for name in row} - {*FIRST, *LAST})
        with files.replacing(self._path) as file:
            os.chmod(file.name, 0o600)
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            writer = csv.DictWriter(text, [*FIRST, *exercises, *LAST], restval="")
            writer.writeheader()
            writer.writerows(self._rows[name] for name in sorted(self._rows))
            text.detach()
