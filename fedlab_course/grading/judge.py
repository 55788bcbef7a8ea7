"""The judge of one submission, in a process of its own: ``python -m fedlab_course.grading.judge
REQUEST``.

After each exercise the judge prints a line of JSON with all rows so far. Whoever kills it reads the
last line.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fedlab_course import processes
from fedlab_course.check import registry
from fedlab_course.check.base import Exercise
from fedlab_course.check.described import Described
from fedlab_course.check.exercises import Verdict, judge_described
from fedlab_course.grading import steps, workspace
from fedlab_course.grading.limits import Limits, bind
from fedlab_course.grading.points_table import clean
from fedlab_course.grading.steps import Step
from fedlab_course.grading.worker_process import CopyEnded, Ended, RemoteAnswer, WorkerProcess

_UNREACHED = "The notebook did not get this far."


class Judging:
    """One submission, which runs in a workspace in ``folder``. ``say``: is called with the rows of
    all exercises, whenever one of them changes.
    """

    def __init__(self, path: Path, folder: Path, bounds: Limits, say: Callable[..., None]) -> None:
        self._folder = folder
        self._bounds = bounds
        self._say = say
        self._steps = steps.read(path)
        self._notes: list[str] = []
        self._rows = _not_judged(self._steps)

    def run(self) -> None:
        """Judge every exercise. What ends the process of the submission is left out, and the rest
        runs again.
        """
        self._report()
        while not self._reaches_the_end():
            pass

    def _are_all_judged(self) -> bool:
        return all(row.hint != _UNREACHED for row in self._rows.values())

    def _reaches_the_end(self) -> bool:
        folder = workspace.make(self._folder, self._bounds.user)
        try:
            worker = WorkerProcess(folder, self._bounds.user)
            with worker.within(self._bounds.total):
                worker.ask({"cell": ""})
        except (OSError, Ended) as error:
            raise RuntimeError(f"no process for its code starts: {error}") from None
        errors: dict[int, str] = {}  # by cell
        try:
            for step in self._steps:
                if self._are_all_judged():
                    return True
                try:
                    self._take(step, worker, errors)
                except CopyEnded as end:
                    self._leave_out(step, str(end))
                except Ended as end:
                    self._leave_out(step, str(end))
                    return False
            return True
        finally:
            worker.kill()
            workspace.remove(folder)

    def _take(self, step: Step, worker: WorkerProcess, errors: dict[int, str]) -> None:
        """Run the cell of the step, or judge its exercise if it is not judged yet."""
        with worker.within(self._bounds.cell):
            if step.exercise is None:
                reply = worker.ask({"cell": step.cell.source})
                errors[id(step.cell)] = str(reply.get("error", reply.get("raised")))
            elif self._rows[step.exercise.id].hint == _UNREACHED:
                with worker.copy():
                    self._judge(step.exercise, worker, errors.get(id(step.cell), ""))

    def _judge(self, exercise: Exercise, worker: WorkerProcess, error: str) -> None:
        """Judge the answer that the process has. ``error``: of the cell with the answer, or ""."""
        # a lie about the answer does not help: the answer is called, and its results must be right
        try:
            described = Described(**worker.ask({"answer": exercise.name}))
        except TypeError:
            described = Described("nothing")
        verdict = judge_described(exercise, described, RemoteAnswer(exercise, worker))
        if verdict.status == "open" and error:
            self._enter(
                exercise.id, "wrong", f"The cell of the answer stops with {error}.", is_crash=True
            )
        else:
            self._enter(exercise.id, verdict.status, verdict.hint, is_crash=verdict.is_crash)

    def _leave_out(self, step: Step, why: str) -> None:
        """Leave out the cell, or the exercise, that ended the process."""
        if step.exercise is not None:
            self._enter(step.exercise.id, "wrong", f"Your code {why}.", is_crash=True)
            return
        step.cell.source = ""
        for other in self._steps:
            if other.exercise is not None and other.cell is step.cell:
                self._enter(
                    other.exercise.id, "wrong", f"The cell of the answer {why}.", is_crash=True
                )
                return
        self._notes.append(f"{step.cell.place} {why}. Graded without it.")

    def _enter(self, name: str, status: str, hint: str, is_crash: bool) -> None:
        self._rows[name] = replace(
            self._rows[name], status=status, hint=clean(hint), is_crash=is_crash
        )
        self._report()

    def _report(self) -> None:
        rows = [asdict(row) for row in self._rows.values()]
        rows[0]["remark"] = " ".join([*self._notes, rows[0]["remark"]]).strip()
        self._say(rows=rows)


def _not_judged(plan: Sequence[Step]) -> dict[str, Verdict]:
    """Return a row for each exercise of the plan, in the order of the course."""
    remarks = {step.exercise.id: step.remark for step in plan if step.exercise is not None}
    rows = {}
    for exercise in registry.every():
        id = exercise.id
        if id in remarks:
            rows[id] = Verdict(
                id,
                exercise.said(exercise.title),
                "not judged",
                _UNREACHED,
                exercise.points,
                remarks[id],
            )
    return rows


def main(request: dict[str, Any]) -> None:
    """Judge the submission of the ``request``: its ``path``, the ``folder`` for its workspaces, and
    ``limits``.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    bounds = Limits(**request["limits"])
    bind(bounds)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def say(**said: Any) -> None:
        print(json.dumps(said), file=out, flush=True)

    try:
        Judging(Path(request["path"]), Path(request["folder"]), bounds, say).run()
    except Exception as error:  # whatever is wrong with a submission is its own row
        say(problem=str(error) if isinstance(error, (ValueError, RuntimeError)) else repr(error))
    finally:
        processes.end(processes.below())


def _end_with_parent() -> None:
    """Wait until whoever started the judge is gone, and end."""
    sys.stdin.buffer.read()
    processes.end(processes.below())
    os._exit(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
