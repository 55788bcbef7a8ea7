"""Grade one submission."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedlab_course.check.base import Exercise
from fedlab_course.grading import remarks, sheet
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.room import house as own_house
from fedlab_course.grading.rows import Row, clean
from fedlab_course.grading.running import Running, Stop


def grade(path: Path, timeout: float | None = None) -> list[Row]:
    """The result of each exercise in the notebook at ``path``; ``timeout``: seconds for one cell (default 120).

    Raises ``ValueError`` if the file is no notebook or holds no exercise, or for another ``timeout``, and
    :class:`~fedlab_course.grading.rows.GradingFailed` if no kernel starts.
    """
    bounds = Limits().with_timeout(timeout)
    return grade_sheet(sheet.sheet(sheet.read(path), str(path)), beside(path), bounds)


def grade_notebook(notebook: Any, folder: Path | None = None, timeout: float | None = None) -> list[Row]:
    """The same for a notebook in memory, an ``nbformat`` node or plain data.

    ``folder``: whose files, notebooks aside, lie where it works; None is an empty folder. Raises as :func:`grade` does.
    """
    bounds = Limits().with_timeout(timeout)
    return grade_sheet(sheet.sheet(notebook, "the notebook"), folder, bounds)


def beside(path: Path) -> Path | None:
    """The folder of a notebook if it has it for itself: else its files may be somebody else's."""
    folder = path.resolve().parent
    return folder if len(list(folder.glob("*.ipynb"))) == 1 else None


def grade_sheet(
    found: sheet.Sheet,
    folder: Path | None,
    bounds: Limits,
    house: Path | None = None,
    stop: Stop | None = None,
) -> list[Row]:
    """The same for a sheet. ``house``: where it gets a room; ``stop`` ends it.

    Raises :class:`~fedlab_course.grading.running.Interrupted` if it was stopped.
    """
    tampered = _tampering(found)
    with contextlib.nullcontext(house) if house is not None else own_house() as place:
        running = Running(found, place, folder, bounds, stop or Stop())
        running.run()
    rows = [_row(exercise, found, running, tampered) for exercise in found.exercises]
    if tampered.get("") or running.notes:
        general = " ".join([*tampered.get("", []), *running.notes])
        rows[0] = replace(rows[0], remark=" ".join(filter(None, [general, rows[0].remark])))
    return rows


def _tampering(found: sheet.Sheet) -> dict[str, list[str]]:
    """What cells do to what judges them, by exercise; "" for cells that belong to none: that concerns them all."""
    seen: dict[str, list[str]] = {}
    for cell in found.cells:
        for words in remarks.tampering(cell.handed_in):
            seen.setdefault(cell.owner, []).append(f"{cell.place} {words}.")
    return seen


def _row(exercise: Exercise, found: sheet.Sheet, running: Running, tampered: dict[str, list[str]]) -> Row:
    remark = " ".join([*tampered.get(exercise.id, []), *found.remarks[exercise.id]])
    finding = running.findings.get(exercise.id)
    if exercise.id in found.conflicts:
        return Row(exercise.id, "not judged", 0, exercise.points, found.conflicts[exercise.id], remark)
    if tampered.get(exercise.id) or tampered.get(""):
        words = "The submission interferes with what grades it: no points."
        return Row(exercise.id, "refused", 0, exercise.points, words, remark)
    if finding is None:
        return Row(exercise.id, "not judged", 0, exercise.points, "The notebook did not get this far in time.", remark)
    status, hint = "wrong" if finding.status == "lost" else finding.status, clean(finding.hint)
    return Row(exercise.id, status, exercise.points if status == "solved" else 0, exercise.points, hint, remark)
