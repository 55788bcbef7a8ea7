"""Grade a submitted notebook in a fresh kernel.

The notebook runs from top to bottom, and errors in it do not stop it. In the place of each check cell stands a check
of our own, made from the registry: edited, faked or deleted check cells change nothing. Without its check cell, an
exercise is checked after its answer, and without that at the end. Cells are known by their id, or by nbgrader's
``grade_id``.

Code that does not heed an interruption, or that ends the kernel, costs only its own exercise: the notebook runs again
without it, in a fresh kernel.

This is no sandbox: a submission is a program that runs with your rights. Grade strangers' notebooks in a container.
"""

import asyncio
import logging
import math
import secrets
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_course.exercises import MIME, cells, registry
from fedlab_course.exercises.base import Exercise
from fedlab_course.harness import executed, kernel

TIMEOUT = 120.0
STARTING = 600.0  # seconds to import the library, which is not the student's time
GRACE = 5.0  # seconds that an interrupted cell has to end before its kernel is killed
# What judges is imported anew, so that what the notebook may have done to it does not count.
_CHECK = """\
import sys
judges = tuple("{package}." + part for part in ("exercises", "grade", "display"))
for name in [name for name in sys.modules if name.startswith(judges)]:
    del sys.modules[name]
import {package}.grade
sys.modules["{package}.grade"].judge_here({exercise!r}, globals().get({name!r}), {token!r})"""
_LOG = logging.getLogger(__name__)


class GradingFailed(RuntimeError):
    """The kernel does not start, so nothing can be judged."""


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

    Raises ``ValueError`` if the file is no notebook or holds no exercise, or for another ``timeout``, and
    :class:`GradingFailed` if no kernel starts.
    """
    if timeout is not None and not 0 < timeout < math.inf:
        raise ValueError(f"timeout = {timeout!r}: must be a number of seconds > 0, or None")
    notebook = _read(path)
    exercises = _exercises(notebook, path)
    token, limit = secrets.token_hex(16), timeout or TIMEOUT
    places = {id(cell): place for place, cell in executed.numbered(notebook)}
    checks = _with_own_checks(notebook, exercises, token)
    answers = {_name(cell): cell for cell in notebook.cells}
    own = {e.id: (checks[e.id], answers.get(cells.cell_id(e, "answer"))) for e in exercises}
    ended: dict[str, str] = {}
    while stop := _to_its_end(_run(notebook, path.resolve().parent, limit)):
        cell, why = stop
        owner = next((name for name, pair in own.items() if any(cell is each for each in pair)), None)
        for each in own[owner] if owner else (cell,):
            if each is not None:
                each.source = ""
        if owner:
            ended[owner] = f"{'Your code' if cell is checks[owner] else 'The cell of the answer'} {why}."
        else:
            _LOG.warning("%s: %s %s; graded without it", path, places[id(cell)], why)
    return [
        Row(e.id, "wrong", 0, e.points, ended[e.id]) if e.id in ended else _row(e, *own[e.id], token, limit)
        for e in exercises
    ]


def report(rows: list[Row]) -> str:
    """One line for each exercise, its hint below it, and the total."""
    width = max(len(row.exercise) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.exercise:<{width}}  {row.status:<10}  {row.points} of {row.of}")
        lines += [f"    {_one_line(row.hint)}"] if row.hint else []
    total = f"{sum(row.points for row in rows)} of {sum(row.of for row in rows)}"
    return "\n".join([*lines, f"{'total':<{width}}  {'':<10}  {total} points"])


def _one_line(text: str) -> str:
    """``text`` without line breaks or what would steer a terminal: hints quote what was handed in."""
    return "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))


def judge_here(exercise: str, answer: Any, token: str) -> None:
    """Run by the kernel: judge ``answer`` and show the verdict with the ``token`` that tells it from a fake."""
    from fedlab_course.exercises import get, judge
    from fedlab_course.exercises.verdicts import show

    show(judge(get(exercise), answer), token=token)


def _read(path: Path) -> Any:
    import nbformat

    if not path.is_file():
        raise ValueError(f"{path}: {'is a folder; name one notebook' if path.is_dir() else 'there is no such file'}")
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
    marks = cell.metadata.get("nbgrader")
    return str((marks.get("grade_id") if isinstance(marks, dict) else None) or cell.get("id", ""))


def _with_own_checks(notebook: Any, exercises: list[Exercise], token: str) -> dict[str, Any]:
    """Put our checks into the notebook in place of its own, and return them by exercise."""
    from nbformat.v4 import new_code_cell

    notebook.cells.insert(0, new_code_cell(f"import {__name__}"))
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


def _to_its_end(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of ``work``; in a thread of its own where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _run(notebook: Any, folder: Path, limit: float) -> tuple[Any, str] | None:
    """Run all cells, going on after errors; returns the cell that took the kernel with it, and how, or None."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    for library in ("traitlets", "tornado.general", "asyncio"):  # what goes wrong is reported here, once
        logging.getLogger(library).setLevel(logging.CRITICAL)
    with kernel.environment() as workspace:
        client = NotebookClient(
            notebook,
            kernel_name=kernel.KERNEL,
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
            config=kernel.manager_config(workspace),
        )
        manager: Any = client.create_kernel_manager()
        try:
            try:
                await client.async_start_new_kernel()
                await client.async_start_new_kernel_client()
                if not await _ends(client, 0, STARTING):
                    raise RuntimeError(f"the library is not imported within {STARTING:g} s")
            except RuntimeError as error:
                raise GradingFailed(f"no kernel starts: {error}") from error
            for number, cell in enumerate(notebook.cells[1:], start=1):
                try:
                    ended = await _ends(client, number, limit)
                except DeadKernelError:
                    return cell, "ended the kernel: Python itself stopped"
                if not ended:
                    return cell, f"did not end within {limit:g} s"
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
            await manager.shutdown_kernel(now=True)
    return None


async def _ends(client: Any, number: int, seconds: float) -> bool:
    """Run a cell and interrupt it after ``seconds``; whether it ended, by itself or interrupted."""
    cell = client.nb.cells[number]
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    running = asyncio.ensure_future(client.async_execute_cell(cell, number))
    done, _ = await asyncio.wait({running}, timeout=seconds)
    if not done:
        await client.km.interrupt_kernel()
        done, _ = await asyncio.wait({running}, timeout=GRACE)
    if done:
        await running
    else:
        running.cancel()
    return bool(done)


def _row(exercise: Exercise, check: Any, answer: Any, token: str, limit: float) -> Row:
    """The result of an exercise, from the cells of our check and of the answer (None if there is none), both run."""
    data = [output.get("data", {}).get(MIME) for output in check.get("outputs", [])]
    found = [entry for entry in data if isinstance(entry, dict) and entry.get("token") == token]
    broken = _errors(answer) if answer is not None else []
    stopped = _errors(check)
    if found and not (found[-1]["status"] == "open" and broken):
        verdict = found[-1]
        return Row(
            exercise.id, verdict["status"], min(verdict["points"], exercise.points), exercise.points, verdict["hint"]
        )
    if any(error.startswith("KeyboardInterrupt") for error in [*broken, *stopped]):
        return Row(exercise.id, "wrong", 0, exercise.points, f"Your code did not end within {limit:g} s.")
    if found:
        return Row(exercise.id, "wrong", 0, exercise.points, f"The cell of the answer stops with {broken[-1]}.")
    why = stopped[-1] if stopped else "The notebook did not get this far."
    return Row(exercise.id, "not judged", 0, exercise.points, why)


def _errors(cell: Any) -> list[str]:
    outputs = [output for output in cell.get("outputs", []) if output["output_type"] == "error"]
    return [f"{output['ename']}: {output['evalue']}" for output in outputs]
