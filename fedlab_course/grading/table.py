"""The result of grading: the report on a submission, and the table of a class with a row for each file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fedlab_core import files
from fedlab_course.check.exercises import Verdict

_MAX_WORDS = 1000  # characters of a hint
_FIRST, _LAST = ["student", "submission"], ["total", "of", "remarks", "digest"]


def clean(words: str) -> str:
    """Return ``words``, which may quote a submission, as one line of printable characters."""
    short = words if len(words) <= _MAX_WORDS else words[:_MAX_WORDS] + "…"
    return "".join(character if character.isprintable() else "�" for character in " ".join(short.split()))


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
    """Return ``text`` without control characters, as no formula of a spreadsheet. Two texts stay two texts."""
    line = "".join(one if one.isprintable() and one != "\\" else ascii(one)[1:-1] for one in text)
    return f"'{line}" if line.startswith(("=", "+", "-", "@", "'")) else line


@dataclass
class Submission:
    """A file. ``name``: below the folder; ``problem``: why it cannot be graded, or ""; ``rows``: its result."""

    path: Path
    name: str
    student: str
    digest: str = ""
    problem: str = ""
    rows: list[Verdict] = field(default_factory=list)


def read(path: Path) -> dict[str, dict[str, str]]:
    """Read the table at ``path``, if there is one, by submission. Raises ``ValueError`` if it is another table."""
    if not path.exists():
        return {}
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise ValueError(f"--csv {path}: cannot be read ({error})") from error
    if list(table)[:2] != _FIRST or list(table)[-4:] != _LAST:
        raise ValueError(f"--csv {path}: is another table. Name a new file, or a table that grade wrote")
    return {row["submission"]: row for row in table.to_dict("records")}


def ungraded(path: Path, found: Sequence[Submission]) -> list[Submission]:
    """Return those without points in the table at ``path``, or changed since. Raises ``ValueError`` as :func:`read`."""
    graded = {(name, row["digest"]) for name, row in read(path).items() if row["total"]}
    return [each for each in found if (safe(each.name), each.digest) not in graded]


def add(path: Path, each: Submission) -> None:
    """Write the row of a submission into the table at ``path``, among what other runs may have added meanwhile."""
    row = {"student": safe(each.student), "submission": safe(each.name), "digest": each.digest}
    row |= {one.exercise: str(one.points) for one in each.rows}
    if not each.problem:
        row |= dict(zip(("total", "of"), map(str, total(each.rows)), strict=True))
    said = [f"{one.exercise}: {one.remark}" for one in each.rows if one.remark]
    row["remarks"] = safe(clean(" ".join([each.problem, *said])))
    with files.locked(path.with_name(f".{path.name}.lock")):
        rows = read(path) | {row["submission"]: row}
        exercises = sorted({name for row in rows.values() for name in row} - {*_FIRST, *_LAST})
        table = pd.DataFrame([rows[name] for name in sorted(rows)], columns=[*_FIRST, *exercises, *_LAST])
        with files.replacing(path) as file:
            os.chmod(file.name, 0o600)
            table.to_csv(file, index=False)
