"""A submission as a list of steps: the cells to run, and where each exercise is judged."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise
from fedlab_course.grading.result import clean

_NBGRADER_STUB = "raise NotImplementedError()"


@dataclass
class Cell:
    """A code cell. ``source``: what is run, or "" if nothing is; ``name``: its id; ``place``: in words."""

    source: str
    name: str
    place: str


@dataclass
class Step:
    """Run the ``cell``, or judge the ``exercise`` if there is one: then the ``cell`` has its answer, if any has."""

    cell: Cell
    exercise: Exercise | None = None


@dataclass
class Sheet:
    """The exercises of the chapters in a submission, the steps to grade them, and remarks by exercise."""

    exercises: list[Exercise]
    steps: list[Step] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)


def read(path: Path) -> Sheet:
    """Read the notebook at ``path``. Raises ``ValueError`` if it is not a notebook, or if it has no exercise."""
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8", "replace"))
        every = [(given["cell_type"], _cell(given, i)) for i, given in enumerate(notebook["cells"], start=1)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not a Jupyter notebook of version 4 ({type(error).__name__})") from error
    names = {cell.name for _, cell in every}
    held = {e.chapter for e in registry.every() if names & {cells.cell_id(e, part) for part in cells.PARTS}}
    sheet = Sheet([exercise for exercise in registry.every() if exercise.chapter in held])
    if not sheet.exercises:
        raise ValueError("has no exercise of this course. Were the ids of its cells lost?")
    _plan(sheet, [cell for kind, cell in every if kind == "code"])
    return sheet


def _cell(given: Mapping[str, Any], number: int) -> Cell:
    source = given.get("source") or ""
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be sent
    metadata = given.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = marks.get("grade_id") if isinstance(marks, Mapping) else None
    first = next(iter(text.strip().splitlines()), "")
    return Cell(text, str(grade_id or given.get("id", "")), f"cell {number} (`{clean(first[:60])}`)")


def _plan(sheet: Sheet, code: list[Cell]) -> None:
    """Choose the answers, and plan where each exercise is judged: after its answer and its check cell."""
    judged: dict[int, list[Step]] = {}  # number of a cell → what is judged after it
    for exercise in sheet.exercises:
        remarks = sheet.remarks[exercise.id] = []
        answer = _answer(exercise, code, remarks)
        checks = [i for i, cell in enumerate(code) if cell.name == cells.cell_id(exercise, "check")]
        if [code[i].source.strip() for i in checks] != [f'exercises.check("{exercise.id}", {exercise.name})']:
            remarks.append("Its check cell was changed, removed or copied. This has no influence on the points.")
        for i in checks:
            code[i].source = ""
        place = max([*checks[:1], *([] if answer is None else [answer])], default=len(code) - 1)
        judged.setdefault(place, []).append(Step(Cell("", "", "") if answer is None else code[answer], exercise))
    for i, cell in enumerate(code):
        sheet.steps += [Step(cell), *judged.get(i, [])]
    sheet.steps += judged.get(-1, [])


def _answer(exercise: Exercise, code: list[Cell], remarks: list[str]) -> int | None:
    """Return the number of the cell with the answer: of several, the last that is not the stub. Leave out the others.

    A cell is known by its id. A pasted copy has another id: it is known by the first lines of the stub.
    """
    name, start = cells.cell_id(exercise, "answer"), exercise.stub_source.partition("...")[0].strip()
    found = [i for i, cell in enumerate(code) if cell.name == name or start in cell.source]
    if not found:
        return None
    chosen = next((i for i in reversed(found) if not _is_stub(code[i].source, exercise)), found[-1])
    if len(found) > 1:
        remarks.append(f"It is answered in {len(found)} cells. {code[chosen].place} counts.")
    for i in found:
        if i != chosen:
            code[i].source = ""
    return chosen


def _is_stub(source: str, exercise: Exercise) -> bool:
    """Return whether a cell is empty, or the stub as the course or as nbgrader writes it."""
    stubs = [exercise.stub_source, exercise.stub_source.replace("...\n", f"{_NBGRADER_STUB}\n")]
    return re.sub(r"\s", "", source) in ["", *(re.sub(r"\s", "", stub) for stub in stubs)]
