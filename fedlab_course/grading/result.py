"""The result of grading, and its report."""

from collections.abc import Iterable
from dataclasses import dataclass

MAX_WORDS = 1000  # characters of a hint


class GradingFailed(RuntimeError):
    """A submission that could not be graded; the message says why."""


@dataclass(frozen=True)
class Row:
    """The result of one exercise.

    ``status``: "solved", "wrong", "open" or "not judged". ``points``: 0 or ``of``. ``hint``: for the student.
    ``remark``: for the instructor, or "".
    """

    exercise: str
    status: str
    points: int
    of: int
    hint: str
    remark: str = ""


def clean(words: str) -> str:
    """Return ``words``, which may quote a submission, as one line of printable characters."""
    short = words if len(words) <= MAX_WORDS else words[:MAX_WORDS] + "…"
    return "".join(character if character.isprintable() else "�" for character in " ".join(short.split()))


def total(rows: Iterable[Row]) -> tuple[int, int]:
    """Return the points of all exercises, and the largest possible number."""
    found = list(rows)
    return sum(row.points for row in found), sum(row.of for row in found)


def report(rows: list[Row]) -> str:
    """Return a line for each exercise, with its hint and its remark below it, and the total."""
    width = max(len(row.exercise) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.exercise:<{width}}  {row.status:<10}  {row.points} of {row.of}")
        lines += [f"    {clean(row.hint)}"] if row.hint else []
        lines += [f"    Remark: {clean(row.remark)}"] if row.remark else []
    points, of = total(rows)
    return "\n".join([*lines, f"{'total':<{width}}  {'':<10}  {points} of {of} points"])
