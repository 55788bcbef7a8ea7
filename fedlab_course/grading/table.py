"""The result of grading: a row for each exercise, their report, and the table of a class with a row for each file."""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fedlab_core import files

_MAX_WORDS = 1000  # characters of a hint
_FIRST, _LAST = ["student", "submission"], ["total", "of", "remarks", "digest"]


@dataclass(frozen=True)
class Row:
    """The result of an exercise: "solved", "wrong", "open" or "not judged", and 0 or ``of`` points.

    ``hint``: for the student; ``remark``: for the instructor.
    """

    exercise: str
    status: str
    points: int
    of: int
    hint: str
    remark: str = ""


def clean(words: str) -> str:
    """Return ``words``, which may quote a submission, as one line of printable characters."""
    short = words if len(words) <= _MAX_WORDS else words[:_MAX_WORDS] + "…"
    return "".join(character if character.isprintable() else "�" for character in " ".join(short.split()))


def total(rows: Sequence[Row]) -> tuple[int, int]:
    """Return the points of all exercises, and the largest possible number."""
    return sum(row.points for row in rows), sum(row.of for row in rows)


def report(rows: Sequence[Row]) -> str:
    """Return a line for each exercise, with its hint and its remark below it, and the total."""
    width = max(len(row.exercise) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.exercise:<{width}}  {row.status:<10}  {row.points} of {row.of}")
        lines += [f"    {clean(row.hint)}"] if row.hint else []
        lines += [f"    Remark: {clean(row.remark)}"] if row.remark else []
    points, of = total(rows)
    return "\n".join([*lines, f"{'total':<{width}}  {'':<10}  {points} of {of} points"])


def safe(text: str) -> str:
    """Return ``text`` without control characters, as no formula of a spreadsheet. Two texts stay two texts."""
    line = "".join(one if one.isprintable() and one != "\\" else ascii(one)[1:-1] for one in text)
    return f"'{line}" if line.startswith(("=", "+", "-", "@", "'")) else line


class Table:
    """The table at ``path``, which may exist. Raises ``ValueError`` if the file is another table."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = self._read()

    def has(self, submission: str, digest: str) -> bool:
        """Return whether this version of the submission has points already."""
        row = self._rows.get(safe(submission), {})
        return row.get("digest") == digest and bool(row.get("total"))

    def add(self, student: str, submission: str, digest: str, rows: Sequence[Row], problem: str) -> None:
        """Write a submission's ``rows`` or ``problem``, among what other runs may have added meanwhile."""
        row = {"student": safe(student), "submission": safe(submission), "digest": digest}
        row |= {each.exercise: str(each.points) for each in rows}
        if not problem:
            row |= dict(zip(("total", "of"), map(str, total(rows)), strict=True))
        said = [f"{each.exercise}: {each.remark}" for each in rows if each.remark]
        row["remarks"] = safe(clean(" ".join([problem, *said])))
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
        if names[:2] != _FIRST or names[-4:] != _LAST:
            raise ValueError(f"--csv {self._path}: is another table. Name a new file, or a table that grade wrote")
        return {row["submission"]: row for row in rows}

    def _write(self) -> None:
        exercises = sorted({name for row in self._rows.values() for name in row} - {*_FIRST, *_LAST})
        with files.replacing(self._path) as file:
            os.chmod(file.name, 0o600)
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            writer = csv.DictWriter(text, [*_FIRST, *exercises, *_LAST], restval="")
            writer.writeheader()
            writer.writerows(self._rows[name] for name in sorted(self._rows))
            text.detach()
