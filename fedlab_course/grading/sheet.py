"""A submission as a list of steps: the cells to run, and where each exercise is judged."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedlab_course.check import cells, registry
from fedlab_course.check.base import Exercise
from fedlab_course.grading.rows import clean

MAX_FILE = 64 * 2**20  # bytes
_NBGRADER_STUB = "raise NotImplementedError()"


@dataclass
class Cell:
    """A code cell. ``source``: what is run, "" if left out; ``names``: what it is known by; ``place``: in words."""

    source: str
    names: frozenset[str]
    place: str
    exercise: Exercise | None = None  # whose answer it is
    owner: str = ""  # the exercise that it belongs to, as answer or as check
    handed_in: str = ""  # the source, even if it is left out


@dataclass
class Step:
    """Something to do: run the ``cell``, or judge the ``exercise``."""

    cell: Cell | None = None
    exercise: Exercise | None = None


@dataclass
class Sheet:
    """``cells``: the code cells as handed in; ``exercises``: all of the chapters that it holds a cell of; ``steps``;
    ``answers``: the cell of each answer, None without; ``remarks`` on each exercise; ``conflicts``: those that cannot
    be judged, and why.
    """

    cells: list[Cell]
    exercises: list[Exercise]
    steps: list[Step] = field(default_factory=list)
    answers: dict[str, Cell | None] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Any:
    """The notebook at ``path`` as plain data. Raises ``ValueError`` if the file is none."""
    if not path.is_file():
        raise ValueError(f"{path}: {'is a folder; name one notebook' if path.is_dir() else 'there is no such file'}")
    if path.stat().st_size > MAX_FILE:
        raise ValueError(f"{path}: is larger than {MAX_FILE // 2**20} MB")
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8", "replace"))
        if isinstance(notebook, dict) and notebook.get("nbformat") in (1, 2, 3):
            import nbformat

            notebook = nbformat.convert(nbformat.from_dict(notebook), 4)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:  # nbformat raises many kinds, and JSON may be nested too deep
        raise ValueError(f"{path}: is not a Jupyter notebook ({type(error).__name__})") from error
    return notebook


def sheet(notebook: Any, name: str) -> Sheet:
    """The steps of ``notebook``, called ``name`` in messages. Raises ``ValueError`` if it holds no exercise."""
    given = notebook.get("cells") if isinstance(notebook, Mapping) else None
    if not isinstance(given, list) or not all(isinstance(cell, Mapping) for cell in given):
        raise ValueError(f"{name}: is not a Jupyter notebook")
    every = [(cell.get("cell_type"), _cell(cell, number)) for number, cell in enumerate(given, start=1)]
    names = frozenset().union(*(cell.names for _, cell in every))
    held = {e.chapter for e in registry.every() if names & {cells.cell_id(e, part) for part in cells.PARTS}}
    exercises = [exercise for exercise in registry.every() if exercise.chapter in held]
    if not exercises:
        raise ValueError(f"{name}: holds no exercise of this course; were the ids of its cells lost?")
    found = Sheet([cell for kind, cell in every if kind == "code"], exercises)
    found.remarks = {exercise.id: [] for exercise in exercises}
    _plan(found)
    return found


def _cell(given: Mapping[str, Any], number: int) -> Cell:
    """A cell, whatever its fields hold."""
    source = given.get("source")
    text = "".join(str(line) for line in source) if isinstance(source, list) else str(source or "")
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be sent
    metadata = given.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = marks.get("grade_id") if isinstance(marks, Mapping) else None
    first = next(iter(text.strip().splitlines()), "")
    return Cell(
        text,
        frozenset({str(grade_id or given.get("id", ""))}),
        f"cell {number} (`{clean(first[:60])}`)",
        handed_in=text,
    )


def _plan(found: Sheet) -> None:
    """Choose the answers, and put a place to judge each exercise into the steps."""
    after: dict[int, list[Exercise]] = {}  # place of a cell → what is judged once it has run; -1: before all
    for exercise in found.exercises:
        checks = [i for i, cell in enumerate(found.cells) if cells.cell_id(exercise, "check") in cell.names]
        answer = _answer(found, exercise)
        _compare_checks(found, exercise, checks, answer)
        place = max([*checks[:1], *([] if answer is None else [answer])], default=len(found.cells) - 1)
        after.setdefault(place, []).append(exercise)
        for check in checks:
            found.cells[check].source, found.cells[check].owner = "", exercise.id
    for number, cell in enumerate(found.cells):
        found.steps.append(Step(cell=cell))
        found.steps += [Step(exercise=exercise) for exercise in after.get(number, [])]
    found.steps += [Step(exercise=exercise) for exercise in after.get(-1, [])]


def _answer(found: Sheet, exercise: Exercise) -> int | None:
    """The place of the answer that counts: of several the one that is filled in. Stubs beside it are left out."""
    named = [i for i, cell in enumerate(found.cells) if cells.cell_id(exercise, "answer") in cell.names]
    alike = [i for i, cell in enumerate(found.cells) if i not in named and _looks_like(cell.source, exercise)]
    filled = [i for i in [*named, *alike] if not _is_stub(found.cells[i].source, exercise)]
    own = [i for i in filled if i in named]
    if len({found.cells[i].source.strip() for i in own}) > 1:
        found.conflicts[exercise.id] = (
            "The cell of the answer stands there more than once, and not with the same answer. Keep one of them."
        )
    chosen = next(iter([*own[:1], *filled[-1:], *named[:1], *alike[:1]]), None)
    places = sorted({*named, *alike})
    if len(places) > 1:
        where = " and ".join(found.cells[i].place for i in places)
        counts = "" if chosen is None else f"; {found.cells[chosen].place} counts"
        found.remarks[exercise.id].append(f"The answer stands there {len(places)} times: {where}{counts}.")
    for i in places:
        found.cells[i].owner = exercise.id
        if i != chosen and (i not in filled or i in own):
            found.cells[i].source = ""
    if chosen is not None:
        found.cells[chosen].exercise = exercise
    found.answers[exercise.id] = None if chosen is None else found.cells[chosen]
    return chosen


def _compare_checks(found: Sheet, exercise: Exercise, checks: list[int], answer: int | None) -> None:
    wanted, say = f'exercises.check("{exercise.id}", {exercise.name})', found.remarks[exercise.id].append
    if not checks:
        say("Its check cell is missing.")
    if len(checks) > 1:
        say(f"Its check cell stands there {len(checks)} times.")
    if any(found.cells[i].source.strip() != wanted for i in checks):
        say("Its check cell was changed; judged by our own.")
    if checks and answer is not None and checks[0] < answer:
        say("Its check cell stands before the answer; judged after the answer.")


def _is_stub(source: str, exercise: Exercise) -> bool:
    """Whether a cell does no more than the stub, as the course or as nbgrader writes it."""
    stubs = [exercise.stub_source, exercise.stub_source.replace("...\n", f"{_NBGRADER_STUB}\n")]
    return not source.strip() or _tree(source) in [_tree(stub) for stub in stubs]


def _looks_like(source: str, exercise: Exercise) -> bool:
    """Whether a cell defines the answer with the stub's own docstring: a copy of the answer's cell."""
    try:
        body: list[Any] = ast.parse(source).body
        stub: Any = ast.parse(exercise.stub_source).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        type(node) is type(stub) and node.name == stub.name and ast.get_docstring(node) == ast.get_docstring(stub)
        for node in body
    )


def _tree(source: str) -> str | None:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
