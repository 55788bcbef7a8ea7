"""The table of a class: a CSV file with a row for each submission, written anew, and at once, as each is graded."""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from fedlab_core import files
from fedlab_course.grading.rows import Row, clean, total

FIRST, LAST = ("student", "submission"), ("total", "of", "remarks", "digest")
_FORMULAS = ("=", "+", "-", "@")


def safe(text: str) -> str:
    """``text`` as one line that no spreadsheet takes for a formula: file names are chosen by students."""
    line = clean(text)
    return f"'{line}" if line.startswith(_FORMULAS) else line


class Table:
    """The rows of the file at ``path``, which may be there already, by submission.

    ``exercises``: the ids that have a column, besides those that the file has. Raises ``ValueError`` if there is a file
    that is no such table.
    """

    def __init__(self, path: Path, exercises: Sequence[str]) -> None:
        self._path = path
        self._rows: dict[str, dict[str, str]] = {}
        before = self._read() if path.exists() else []
        self._exercises = sorted({*exercises, *before})

    def _read(self) -> list[str]:
        try:
            with self._path.open(newline="", encoding="utf-8-sig") as file:
                reader = csv.DictReader(file)
                names = list(reader.fieldnames or [])
                rows = list(reader)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"--csv {self._path}: cannot be read ({error})") from error
        if tuple(names[:2]) != FIRST or tuple(names[-4:]) != LAST:
            raise ValueError(f"--csv {self._path}: is another table; name a file that is not there, or one of grade's")
        self._rows = {row["submission"]: row for row in rows}
        return names[2:-4]

    def has(self, submission: str, digest: str) -> bool:
        """Whether this very submission is graded already; one that could not be is tried again."""
        row = self._rows.get(safe(submission), {})
        return row.get("digest") == digest and bool(row.get("total"))

    def add(self, student: str, submission: str, digest: str, rows: Sequence[Row], problem: str = "") -> None:
        """Enter a submission, with its ``rows`` or the ``problem`` that there is with it, and write the file."""
        row: dict[str, str] = {"student": safe(student), "submission": safe(submission), "digest": digest}
        row |= {each.exercise: str(each.points) for each in rows}
        if not problem:
            points, of = total(rows)
            row |= {"total": str(points), "of": str(of)}
        said = [f"{each.exercise}: {each.remark}" for each in rows if each.remark]
        row["remarks"] = safe(" ".join([problem, *said]).strip())
        self._rows[row["submission"]] = row
        self._write()

    def _write(self) -> None:
        names = [*FIRST, *self._exercises, *LAST]
        with files.replacing(self._path) as file:
            os.chmod(file.name, 0o600)
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            writer = csv.DictWriter(text, names, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self._rows[name] for name in sorted(self._rows))
            text.detach()
