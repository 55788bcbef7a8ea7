"""The judge of one submission, in a process of its own: ``python -m fedlab_course.grading.judge REQUEST``.

The code of the submission runs in another process, which this one starts. After each exercise the judge prints a line
of JSON with everything that it knows so far. Whoever started it may kill it at any time, and reads the last line.
"""

import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from fedlab_course.check.base import Exercise
from fedlab_course.check.described import Described
from fedlab_course.check.verdicts import judge_described
from fedlab_course.grading import keeping, room, sheet
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.remote import Answer, OutOfTime
from fedlab_course.grading.result import Row, clean
from fedlab_course.grading.runner import Ended, Runner
from fedlab_course.grading.sheet import Step

_UNREACHED = "The notebook did not get this far."


class Judging:
    """One submission. ``rows``: the result of each exercise so far."""

    def __init__(self, path: Path, house: Path, bounds: Limits, say: Any) -> None:
        self._house, self._bounds, self._say = house, bounds, say
        self._beside = path.parent if len(list(path.parent.glob("*.ipynb"))) == 1 else None  # else it may be another's
        self._sheet = sheet.read(path)
        self._notes: list[str] = []
        self.rows = {e.id: Row(e.id, "not judged", 0, e.points, _UNREACHED) for e in self._sheet.exercises}

    def run(self) -> None:
        """Judge every exercise. What ends the process of the submission is left out, and the rest runs again."""
        self._report()
        while not self._reaches_the_end():
            pass

    def _reaches_the_end(self) -> bool:
        place = room.make(self._house, self._beside, self._bounds.user)
        try:
            runner = Runner(place, self._bounds)
            with runner.within(self._bounds.total):
                runner.ask({"cell": ""})
        except (OSError, Ended) as error:
            raise RuntimeError(f"no process for its code starts: {error}") from None
        errors: dict[int, str] = {}  # by cell
        try:
            for step in self._sheet.steps:
                try:
                    if step.exercise is None:
                        errors[id(step.cell)] = runner.run(step.cell.source)
                    elif self.rows[step.exercise.id].hint == _UNREACHED:
                        self._judge(step.exercise, runner, errors.get(id(step.cell), ""))
                except Ended as end:
                    self._leave_out(step, str(end))
                    return False
            return True
        finally:
            runner.kill()
            room.remove(place)

    def _judge(self, exercise: Exercise, runner: Runner, error: str) -> None:
        """Judge the answer that the process has. ``error``: of the cell with the answer, or ""."""
        late = f"Your code did not end within {self._bounds.cell:g} s."
        with runner.within(self._bounds.cell):
            try:
                described = _described(runner.ask({"answer": exercise.name}))
                verdict = judge_described(exercise, described, Answer(exercise, runner))
                status, hint = verdict.status, verdict.hint
            except OutOfTime:
                status, hint = "wrong", late
        if status == "open" and error:
            late_too = error.startswith("KeyboardInterrupt")
            status, hint = "wrong", late if late_too else f"The cell of the answer stops with {error}."
        self._enter(exercise.id, status, hint)

    def _leave_out(self, step: Step, why: str) -> None:
        """Leave out the cell, or the exercise, that ended the process."""
        if step.exercise is not None:
            self._enter(step.exercise.id, "wrong", f"Your code {why}.")
            return
        step.cell.source = ""
        for other in self._sheet.steps:
            if other.exercise is not None and other.cell is step.cell:
                self._enter(other.exercise.id, "wrong", f"The cell of the answer {why}.")
                return
        self._notes.append(f"{step.cell.place} {why}. Graded without it.")

    def _enter(self, name: str, status: str, hint: str) -> None:
        of = self.rows[name].of
        self.rows[name] = Row(name, status, of if status == "solved" else 0, of, clean(hint))
        self._report()

    def _report(self) -> None:
        rows = [asdict(row) for row in self.rows.values()]
        for row in rows:
            row["remark"] = " ".join(self._sheet.remarks[row["exercise"]])
        rows[0]["remark"] = " ".join([*self._notes, rows[0]["remark"]]).strip()
        self._say(rows=rows)


def _described(reply: dict[str, Any]) -> Described:
    """Read what an answer is said to be. A lie does not help: the answer is called, and its results must be right."""
    try:
        found = Described(**reply)
        if all(isinstance(text, str) for text in [found.kind, found.form, *found.parameters, *found.methods]):
            return found
    except TypeError:
        pass
    return Described("nothing")


def main(request: dict[str, Any]) -> None:
    """Judge the submission of the ``request``: its ``path``, the ``house`` for its room, and ``limits``."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    bounds = Limits(**request["limits"])
    keeping.bind(bounds)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def say(**said: Any) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    try:
        Judging(Path(request["path"]), Path(request["house"]), bounds, say).run()
    except Exception as error:  # whatever is wrong with a submission is its own row
        words = str(error) if isinstance(error, (ValueError, RuntimeError)) else repr(error)
        say(problem=words)
    finally:
        keeping.end(keeping.below(psutil.Process()))


def _end_with_parent() -> None:
    """Wait until whoever started the judge is gone, and end."""
    sys.stdin.buffer.read()
    keeping.end(keeping.below(psutil.Process()))
    os._exit(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
