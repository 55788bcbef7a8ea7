"""Grade a submitted notebook in a fresh kernel.

The notebook runs from top to bottom, and errors in it do not stop it. In the place of each check cell stands a check
of our own, made from the registry: edited, faked or deleted check cells change nothing. Without its check cell, an
exercise is checked after its answer, and without that at the end. Cells are known by their id, or by nbgrader's
``grade_id``.

This is no sandbox: a submission is a program that runs with your rights. Grade strangers' notebooks in a container.
"""

import logging
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_core.course import kernel
from fedlab_core.course.exercises import MIME, cells, registry
from fedlab_core.course.exercises.base import Exercise

TIMEOUT = 120.0
STARTING = 600.0  # seconds to import the library, which is not the student's time
# The exercises are imported anew, so that what the notebook may have done to them does not count.
_CHECK = """\
import sys
for name in [name for name in sys.modules if name.startswith(("{package}.exercises", "{package}.grade"))]:
    del sys.modules[name]
import {package}.grade
sys.modules["{package}.grade"].judge_here({exercise!r}, globals().get({name!r}), {token!r})"""


class GradingFailed(RuntimeError):
    """The grading itself did not come to its end; what was judged before stands in ``rows``."""

    def __init__(self, message: str, rows: "list[Row]") -> None:
        super().__init__(message)
        self.rows = rows


@dataclass(frozen=True)
class Row:
    """The result of one exercise. ``status``: "solved", "wrong", "open", or "not judged"."""

    exercise: str
    status: str
    points: int
    of: int
    hint: str


def grade(path: Path, timeout: float | None = None) -> list[Row]:
    """The result of each exercise in the notebook at ``path``; ``timeout``: seconds for one cell (default 120).

    Raises ``ValueError`` if the file is no notebook or holds no exercise, and :class:`GradingFailed` if the kernel
    dies.
    """
    notebook = _read(path)
    exercises = _exercises(notebook, path)
    token, limit = secrets.token_hex(16), timeout or TIMEOUT
    places = _with_own_checks(notebook, exercises, token)
    death = _run(notebook, path.resolve().parent, limit)
    answers = {_name(cell): cell for cell in notebook.cells}
    rows = [
        _row(exercise, places[exercise.id], answers.get(cells.cell_id(exercise, "answer")), token, limit)
        for exercise in exercises
    ]
    if death:
        raise GradingFailed(f"{path}: {death}", rows)
    return rows


def report(rows: list[Row]) -> str:
    """One line for each exercise, its hint below it, and the total."""
    width = max(len(row.exercise) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.exercise:<{width}}  {row.status:<10}  {row.points} of {row.of}")
        lines += [f"    {row.hint}"] if row.hint else []
    total = f"{sum(row.points for row in rows)} of {sum(row.of for row in rows)}"
    return "\n".join([*lines, f"{'total':<{width}}  {'':<10}  {total} points"])


def judge_here(exercise: str, answer: Any, token: str) -> None:
    """Run by the kernel: judge ``answer`` and show the verdict with the ``token`` that tells it from a fake."""
    from fedlab_core.course.exercises import get, judge
    from fedlab_core.course.exercises.verdicts import show

    show(judge(get(exercise), answer), token=token)


def _read(path: Path) -> Any:
    import nbformat

    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # nbformat raises many kinds, for broken JSON, versions and schemas
        raise ValueError(f"{path}: is not a Jupyter notebook ({type(error).__name__})") from error
    return notebook


def _exercises(notebook: Any, path: Path) -> list[Exercise]:
    """The exercises of the chapters that the notebook holds a cell of: an exercise that was deleted counts too."""
    names = {_name(cell) for cell in notebook.cells}
    held = {e.chapter for e in registry.every() if names & {cells.cell_id(e, part) for part in cells.PARTS}}
    found = [exercise for exercise in registry.every() if exercise.chapter in held]
    if not found:
        raise ValueError(f"{path}: holds no exercise of this course; were the ids of its cells lost?")
    return found


def _name(cell: Any) -> str:
    """What an exercise's cell is known by."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", ""))


def _with_own_checks(notebook: Any, exercises: list[Exercise], token: str) -> dict[str, Any]:
    """Put our checks into the notebook in place of its own, and return them by exercise."""
    from nbformat.v4 import new_code_cell

    made = {}
    for exercise in exercises:
        source = _CHECK.format(package=__package__, exercise=exercise.id, name=exercise.name, token=token)
        made[exercise.id] = own = new_code_cell(source)
        check, answer = (cells.cell_id(exercise, part) for part in ("check", "answer"))
        names = [_name(cell) for cell in notebook.cells]
        if check in names:
            place = names.index(check)
            notebook.cells[place : place + 1] = [own]
        else:
            place = names.index(answer) + 1 if answer in names else len(names)
            notebook.cells.insert(place, own)
    return made


def _run(notebook: Any, folder: Path, limit: float) -> str:
    """Run all cells, going on after errors; returns what ended the kernel, or ""."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell

    for library in ("traitlets", "tornado.general"):  # what goes wrong is reported here, once
        logging.getLogger(library).setLevel(logging.CRITICAL)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    ready = new_code_cell("import fedlab_core.course.grade")
    notebook.cells.insert(0, ready)
    with kernel.environment() as workspace:
        client = NotebookClient(
            notebook,
            kernel_name=kernel.KERNEL,
            timeout_func=lambda cell: STARTING if cell is ready else limit,
            allow_errors=True,
            interrupt_on_timeout=True,
            resources={"metadata": {"path": str(folder)}},
            config=kernel.manager_config(workspace),
        )
        try:
            client.execute()
        except RuntimeError as error:  # the kernel died, or did not start
            return f"{error} (out of memory?)"
    return ""


def _row(exercise: Exercise, check: Any, answer: Any, token: str, limit: float) -> Row:
    """The result of an exercise, from the cells of our check and of the answer (None if there is none), both run."""
    data = [output.get("data", {}).get(MIME, {}) for output in check.get("outputs", [])]
    found = [entry for entry in data if entry.get("token") == token]
    broken = _errors(answer) if answer is not None else []
    if found and not (found[-1]["status"] == "open" and broken):
        verdict = found[-1]
        return Row(exercise.id, verdict["status"], verdict["points"], exercise.points, verdict["hint"])
    if found:
        return Row(exercise.id, "wrong", 0, exercise.points, f"The cell of the answer stops with {broken[-1]}.")
    stopped = _errors(check)
    if any(error.startswith("KeyboardInterrupt") for error in stopped):
        return Row(exercise.id, "wrong", 0, exercise.points, f"Your code did not end within {limit:g} s.")
    why = stopped[-1] if stopped else "The notebook did not get this far."
    return Row(exercise.id, "not judged", 0, exercise.points, why)


def _errors(cell: Any) -> list[str]:
    outputs = [output for output in cell.get("outputs", []) if output["output_type"] == "error"]
    return [f"{output['ename']}: {output['evalue']}" for output in outputs]
