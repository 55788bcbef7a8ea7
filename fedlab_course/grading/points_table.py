"""The result of grading: the report on a submission, and the table of a class with a row for each
file.
"""

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fedlab_core import files
from fedlab_course.check.exercises import Verdict

_MAX_WORDS = 1000  # characters of a hint
_FIRST = ["student", "submission"]
_LAST = ["total", "of", "remarks", "digest"]


def clean(words: str) -> str:
    """Return ``words``, which may quote a submission, as one line of printable characters."""
    short = words if len(words) <= _MAX_WORDS else words[:_MAX_WORDS] + "…"
    return "".join(
        character if character.isprintable() else "�" for character in " ".join(short.split())
    )


def total(rows: Sequence[Verdict]) -> tuple[int, int]:
    """Return the points of all exercises, and the largest possible number."""
    return sum(row.points for row in rows), sum(row.of for row in rows)


def report(rows: Sequence[Verdict]) -> str:
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
    """Return ``text`` without control characters, as no formula of a spreadsheet. Two texts stay
    two texts.
    """
    line = "".join(
        character if character.isprintable() and character != "\\" else ascii(character)[1:-1]
        for character in text
    )
    return f"'{line}" if line.startswith(("=", "+", "-", "@", "'")) else line


@dataclass
class Submission:
    """A file. ``name``: below the folder; ``problem``: why it cannot be graded, or ""; ``rows``:
    its result.
    """

    path: Path
    name: str
    student: str
    digest: str = ""
    problem: str = ""
    rows: list[Verdict] = field(default_factory=list)


class PointsTable:
    """The table of a class, kept in memory and written to a file as a whole.

    While a run holds the table, the file is only written: what anybody else writes to it meanwhile
    is set aside as ``NAME.changed`` and does not enter the table.
    """

    def __init__(self, path: Path) -> None:
        """Read the table at ``path``, if there is one. Raises ``ValueError`` if it is another
        table.
        """
        self._path = path
        self._content = path.read_bytes() if path.is_file() else None
        self._rows = _parsed(path, self._content)
        self.is_changed = False

    def ungraded(self, submissions: Sequence[Submission]) -> list[Submission]:
        """Return those without points in the table, or changed since."""
        graded = {(name, row["digest"]) for name, row in self._rows.items() if row["total"]}
        return [each for each in submissions if (safe(each.name), each.digest) not in graded]

    def add(self, each: Submission) -> None:
        """Put the row of a submission into the table, and write the file."""
        row = {"student": safe(each.student), "submission": safe(each.name), "digest": each.digest}
        row |= {verdict.exercise: str(verdict.points) for verdict in each.rows}
        if not each.problem:
            row |= dict(zip(("total", "of"), map(str, total(each.rows)), strict=True))
        row["remarks"] = safe(clean(" ".join([each.problem, *_said(each.rows)])))
        self._rows[row["submission"]] = row
        self.restore()
        self._write()

    def restore(self) -> None:
        """Set the file aside and write it again if it is not what this run wrote last."""
        on_disk = self._path.read_bytes() if self._path.is_file() else None
        if on_disk == self._content:
            return
        self.is_changed = True
        if on_disk is not None:
            os.replace(self._path, self.changed)
        if self._content is not None:
            self._write()

    @property
    def changed(self) -> Path:
        """Where a file goes that somebody else wrote."""
        return self._path.with_name(f"{self._path.name}.changed")

    def points(self, submissions: Sequence[Submission]) -> dict[str, list[str]]:
        """Return the points of the ``submissions``, by exercise."""
        rows = [
            self._rows[safe(each.name)] for each in submissions if safe(each.name) in self._rows
        ]
        return {name: [row[name] for row in rows if row.get(name)] for name in self._exercises()}

    def _exercises(self) -> list[str]:
        return sorted({name for row in self._rows.values() for name in row} - {*_FIRST, *_LAST})

    def _write(self) -> None:
        columns = [*_FIRST, *self._exercises(), *_LAST]
        frame = pd.DataFrame([self._rows[name] for name in sorted(self._rows)], columns=columns)
        self._content = frame.to_csv(index=False, lineterminator="\n").encode()
        with files.replacing(self._path) as file:
            os.chmod(file.name, 0o600)
            file.write(self._content)


def _parsed(path: Path, content: bytes | None) -> dict[str, dict[str, str]]:
    """Return the rows of a table by submission."""
    if content is None:
        return {}
    try:
        frame = pd.read_csv(
            io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
    except ValueError as error:
        raise ValueError(f"--csv {path}: cannot be read ({error})") from error
    if list(frame)[:2] != _FIRST or list(frame)[-4:] != _LAST:
        raise ValueError(
            f"--csv {path}: is another table. Name a new file, or a table that grade wrote"
        )
    return {row["submission"]: row for row in frame.to_dict("records")}


def _said(rows: Sequence[Verdict]) -> list[str]:
    """Return the remarks on a submission. What crashed or did not end has its hint there too."""
    said = []
    for row in rows:
        words = " ".join(filter(None, [row.remark, row.hint if row.is_crash else ""]))
        said += [f"{row.exercise}: {words}"] if words else []
    return said
