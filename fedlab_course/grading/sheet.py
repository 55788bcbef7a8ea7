"""A submission as a list of steps: the cells to run, and where each exercise is judged."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise
from fedlab_course.grading.table import clean


@dataclass
class Cell:
    """A code cell. ``source``: what is run, or "" if nothing is; ``name``: its id; ``place``: in words."""

    source: str
    name: str = ""
    place: str = ""


@dataclass
class Step:
    """Run the ``cell``, or judge the ``exercise`` if there is one: then the ``cell`` has its answer, if any has."""

    cell: Cell
    exercise: Exercise | None = None
    remark: str = ""


def read(path: Path) -> list[Step]:
    """Read the steps of the notebook at ``path``. Raises ``ValueError`` for other files, or without an exercise."""
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8", "replace"))
        every = [(given["cell_type"], _cell(given, i)) for i, given in enumerate(notebook["cells"], start=1)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not a Jupyter notebook of version 4 ({type(error).__name__})") from error
    names = {cell.name for _, cell in every}
    held = {e.chapter for e in registry.every() if names & {cells.cell_id(e, part) for part in cells.PARTS}}
    if not held:
        raise ValueError("has no exercise of this course. Were the ids of its cells lost?")
    return _plan([e for e in registry.every() if e.chapter in held], [cell for kind, cell in every if kind == "code"])


def _cell(given: Mapping[str, Any], number: int) -> Cell:
    source = given.get("source") or ""
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be sent
    metadata = given.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = marks.get("grade_id") if isinstance(marks, Mapping) else None
    first = next(iter(text.strip().splitlines()), "")
    return Cell(text, str(grade_id or given.get("id", "")), f"cell {number} (`{clean(first[:60])}`)")


def _plan(exercises: Sequence[Exercise], code: Sequence[Cell]) -> list[Step]:
    """Plan where each exercise is judged: after its answer and after its check, which is not run."""
    judged: dict[int, list[Step]] = {}  # number of a cell → what is judged after it
    for exercise in exercises:
        answers = _answers(exercise, code)
        checks = [i for i, cell in enumerate(code) if cell.name == cells.cell_id(exercise, "check")]
        step = Step(code[answers[-1]] if answers else Cell(""), exercise)
        if len(answers) > 1:
            step.remark = f"It is answered in {len(answers)} cells. {step.cell.place} counts."
        judged.setdefault(max([*checks[:1], *answers[-1:]], default=len(code) - 1), []).append(step)
        for i in [*checks, *answers[:-1]]:
            code[i].source = ""
    return [step for i, cell in enumerate(code) for step in [Step(cell), *judged.get(i, [])]] + judged.get(-1, [])


def _answers(exercise: Exercise, code: Sequence[Cell]) -> list[int]:
    """Return the numbers of the cells with an answer. The last one counts: the stub never goes before another.

    A cell is known by its id. A pasted copy has another id: it is known by the first lines of the stub.
    """
    name, start = cells.cell_id(exercise, "answer"), exercise.stub_source.partition("...")[0].strip()
    found = [i for i, cell in enumerate(code) if cell.name == name or start in cell.source]
    unsolved = ("", "".join(exercise.stub_source.split()))  # whatever the white space
    return sorted(found, key=lambda i: "".join(code[i].source.split()) not in unsolved)
