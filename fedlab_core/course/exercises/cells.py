"""The cells of an exercise in a notebook, made from the registry, and the comparison of the two."""

from collections.abc import Iterable
from typing import Any

from fedlab_core.course.exercises.base import Exercise

PARTS = ("task", "answer", "check", "solution")
SECTION = "exercises"
CLOSING = "## What we have seen"
_INTRODUCTION = """\
## Exercises

Write your answer in place of the `...` and run the cell, then the one below it, which checks the answer and gives a \
hint if something is not right."""
FOLDED = " The solution is folded away under the check."


def cell_id(exercise: Exercise, part: str) -> str:
    """The id of a cell, such as "ex-02-prox-step-answer"."""
    return f"ex-{exercise.id}-{part}"


def make(exercise: Exercise, number: int) -> list[Any]:
    """The four cells of an exercise, in the order of ``PARTS``; ``number`` counts from 1 in the chapter."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    task = f"### Exercise {int(exercise.chapter)}.{number}: {exercise.title}\n\n{exercise.task.strip()}"
    verdict = f'exercises.check("{exercise.id}", {exercise.name})'
    solution = (
        f"<details><summary>Solution of exercise {int(exercise.chapter)}.{number}</summary>\n\n"
        f"```python\n{exercise.solution_source.strip()}\n```\n\n</details>"
    )
    sources = {"task": task, "answer": exercise.stub_source.strip(), "check": verdict, "solution": solution}
    kinds = {"task": new_markdown_cell, "answer": new_code_cell, "check": new_code_cell, "solution": new_markdown_cell}
    return [kinds[part](sources[part], id=cell_id(exercise, part)) for part in PARTS]


def write(notebook: Any, exercises: Iterable[Exercise]) -> None:
    """Put the cells of ``exercises`` into ``notebook``: those that are there are renewed, others go to the end.

    The end is the last place before "What we have seen". Raises ``ValueError`` if a notebook has no such heading.
    """
    from nbformat.v4 import new_markdown_cell

    made = [cell for number, exercise in enumerate(exercises, start=1) for cell in make(exercise, number)]
    wanted = {cell.id: cell for cell in made}
    kept = [cell for cell in notebook.cells if not cell.get("id", "").startswith("ex-") or cell.id in wanted]
    notebook.cells = [wanted.pop(cell.id, cell) for cell in kept]
    if not wanted:
        return
    place = next((i for i, cell in enumerate(notebook.cells) if cell.source.startswith(CLOSING)), None)
    if place is None:
        raise ValueError(f"a notebook with exercises needs a cell that begins with {CLOSING!r}")
    first = [] if any(cell.get("id") == SECTION for cell in notebook.cells) else [_introduction(new_markdown_cell)]
    notebook.cells[place:place] = [*first, *wanted.values()]


def drift(notebook: Any, exercises: Iterable[Exercise]) -> list[str]:
    """Where the cells of ``notebook`` differ from the registered ``exercises``; empty if they agree."""
    cells = {cell.get("id"): cell for cell in notebook.cells}
    made = [cell for number, exercise in enumerate(exercises, start=1) for cell in make(exercise, number)]
    found = []
    for wanted in made:
        cell = cells.get(wanted.id)
        if cell is None:
            found.append(f"cell {wanted.id} is missing")
        elif (cell.cell_type, cell.source) != (wanted.cell_type, wanted.source):
            found.append(f"cell {wanted.id} is not what the exercise says")
    expected = [cell.id for cell in made]
    strangers = [name for name in cells if str(name).startswith("ex-") and name not in expected]
    found += [f"cell {name} belongs to no exercise" for name in strangers]
    order = [name for name in cells if name in expected]
    if not found and order != expected:
        found.append("the cells of the exercises are not in their order")
    return found


def _introduction(new_markdown_cell: Any) -> Any:
    return new_markdown_cell(_INTRODUCTION + FOLDED, id=SECTION)
