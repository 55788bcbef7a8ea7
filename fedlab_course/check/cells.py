"""The cells of an exercise in a notebook, made from the registry, and the comparison of the two."""

from collections.abc import Iterable
from typing import Any

from fedlab_course.check.base import Exercise, Proof

PARTS = ("task", "answer", "check", "solution")
SECTION = "exercises"
CLOSING = "## What to remember"
_INTRODUCTION = """\
## Exercises

Write your answer in place of the `...` and run the cell, then the one below it, which checks the \
answer and gives a hint if something is not right."""
FOLDED = " The solution is folded away under the check."


def cell_id(exercise: Exercise | Proof, part: str) -> str:
    """The id of a cell, such as "ex-02-prox-step-answer"."""
    return f"ex-{exercise.id}-{part}"


def make(exercise: Exercise | Proof, number: int) -> list[Any]:
    """The cells of an exercise, in the order of ``PARTS``; ``number`` counts from 1 in the chapter.

    A proof has a task and a solution.
    """
    from nbformat.v4 import new_code_cell, new_markdown_cell

    name = f"{int(exercise.chapter)}.{number}"
    kinds = {
        "task": new_markdown_cell,
        "answer": new_code_cell,
        "check": new_code_cell,
        "solution": new_markdown_cell,
    }
    sources = {"task": f"### Exercise {name}: {exercise.title}\n\n{exercise.task.strip()}"}
    if isinstance(exercise, Exercise):
        sources["answer"] = exercise.stub_source.strip()
        sources["check"] = f'exercises.check("{exercise.id}", {exercise.name})'
        words = f"\n\n{exercise.discussion.strip()}" if exercise.discussion else ""
        solved = f"```python\n{exercise.solution_source.strip()}\n```{words}"
    else:
        solved = exercise.solution.strip()
    sources["solution"] = (
        f"<details><summary>Solution of exercise {name}</summary>\n\n{solved}\n\n</details>"
    )
    return [
        kinds[part](sources[part], id=cell_id(exercise, part)) for part in PARTS if part in sources
    ]


def write(notebook: Any, exercises: Iterable[Exercise | Proof]) -> None:
    """Renew the cells of ``exercises`` in ``notebook``, each exercise where its task is now; the
    others go away.

    New exercises go to the end, before "What to remember", the first ones below a heading.
    ``ValueError`` if there is no such cell.
    """
    from nbformat.v4 import new_markdown_cell

    blocks = {
        cell_id(exercise, "task"): make(exercise, number)
        for number, exercise in enumerate(exercises, start=1)
    }
    renewed = []
    for cell in notebook.cells:
        name = cell.get("id", "")
        renewed += blocks.pop(name, []) if name.startswith("ex-") else [cell]
    new = [cell for block in blocks.values() for cell in block]
    if new:
        place = next((i for i, cell in enumerate(renewed) if cell.source.startswith(CLOSING)), None)
        if place is None:
            raise ValueError(f"a notebook with exercises needs a cell that begins with {CLOSING!r}")
        if not any(cell.get("id") == SECTION for cell in renewed):
            new.insert(0, new_markdown_cell(_INTRODUCTION + FOLDED, id=SECTION))
        renewed[place:place] = new
    notebook.cells = renewed


def drift(notebook: Any, exercises: Iterable[Exercise | Proof]) -> list[str]:
    """Where the cells of ``notebook`` differ from the registered ``exercises``; empty if they
    agree.
    """
    wanted = {
        cell.id: cell
        for number, exercise in enumerate(exercises, start=1)
        for cell in make(exercise, number)
    }
    there = {cell.id: cell for cell in notebook.cells if cell.get("id", "").startswith("ex-")}
    faults = []
    for id, cell in wanted.items():
        if id not in there:
            faults.append(f"cell {id} is missing")
        elif (there[id].cell_type, there[id].source) != (cell.cell_type, cell.source):
            faults.append(f"cell {id} is not what the exercise says")
    faults += [f"cell {id} belongs to no exercise" for id in there if id not in wanted]
    if not faults and [*there] != [*wanted]:
        return ["the cells of the exercises are not in their order"]
    return faults
