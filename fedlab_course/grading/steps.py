"""A submission as a list of steps: the cells to run, and where each exercise is judged."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise
from fedlab_course.grading.points_table import clean


@dataclass
class Cell:
    """A code cell. ``source``: what is run, or "" if nothing is; ``name``: its id; ``place``: in
    words.
    """

    source: str
    name: str = ""
    place: str = ""


@dataclass
class Step:
    """Run the ``cell``, or judge the ``exercise`` if there is one: then the ``cell`` has its
    answer, if any has.
    """

    cell: Cell
    exercise: Exercise | None = None
    remark: str = ""


def read(path: Path) -> list[Step]:
    """Read the steps of the notebook at ``path``. Raises ``ValueError`` for other files, or without
    an exercise.
    """
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8", "replace"))
        every = []
        for number, given in enumerate(notebook["cells"], start=1):
            every.append((given["cell_type"], _cell(given, number)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"is not a Jupyter notebook of version 4 ({type(error).__name__})"
        ) from error
    names = {cell.name for _, cell in every}
    chapters = set()
    for exercise in registry.every():
        if not names.isdisjoint(cells.cell_id(exercise, part) for part in cells.PARTS):
            chapters.add(exercise.chapter)
    if not chapters:
        raise ValueError("has no exercise of this course. Were the ids of its cells lost?")
    exercises = [exercise for exercise in registry.every() if exercise.chapter in chapters]
    code = [cell for kind, cell in every if kind == "code"]
    return _plan(exercises, code)


def _cell(given: Mapping[str, Any], number: int) -> Cell:
    source = given.get("source") or ""
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be sent
    metadata = given.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = marks.get("grade_id") if isinstance(marks, Mapping) else None
    first = next(iter(text.strip().splitlines()), "")
    return Cell(
        text, str(grade_id or given.get("id", "")), f"cell {number} (`{clean(first[:60])}`)"
    )


def _plan(exercises: Sequence[Exercise], code: Sequence[Cell]) -> list[Step]:
    """Plan where each exercise is judged: after its answer and after its check, whichever comes
    later. Checks, and all answers but the last, are not run.
    """
    judged_after: dict[int, list[Step]] = {}  # number of a code cell → the exercises judged then
    for exercise in exercises:
        answers = _answers(exercise, code)
        checks = [i for i, cell in enumerate(code) if cell.name == cells.cell_id(exercise, "check")]
        step = Step(code[answers[-1]] if answers else Cell(""), exercise)
        if len(answers) > 1:
            step.remark = f"It is answered in {len(answers)} cells. {step.cell.place} counts."
        at_the_end = len(code) - 1  # −1 if there is no code
        number = max([*checks[:1], *answers[-1:]], default=at_the_end)
        judged_after.setdefault(number, []).append(step)
        for i in [*checks, *answers[:-1]]:
            code[i].source = ""
    plan = []
    for i, cell in enumerate(code):
        plan.append(Step(cell))
        plan += judged_after.get(i, [])
    if not code:
        plan += judged_after.get(-1, [])
    return plan


def _answers(exercise: Exercise, code: Sequence[Cell]) -> list[int]:
    """Return the numbers of the cells with an answer. The last one counts: the stub never goes
    before another.

    A cell is known by its id. A pasted copy has another id: it is known by the first lines of the
    stub.
    """
    name = cells.cell_id(exercise, "answer")
    start = exercise.stub_source.partition("...")[0].strip()
    answers = [i for i, cell in enumerate(code) if cell.name == name or start in cell.source]
    unsolved = ("", _without_spaces(exercise.stub_source))
    return sorted(answers, key=lambda i: _without_spaces(code[i].source) not in unsolved)


def _without_spaces(source: str) -> str:
    return "".join(source.split())
