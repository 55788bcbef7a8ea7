"""Run a submission from top to bottom, judging on the way, and again without what takes its kernel with it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedlab_course.grading import judging
from fedlab_course.grading.judging import Finding
from fedlab_course.grading.kernel import Ended, Kernel
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.room import Room
from fedlab_course.grading.sheet import Cell, Sheet


class Interrupted(Exception):
    """Grading was told to stop."""


class Stop:
    """Ends all the kernels that are told of it, once it is set."""

    def __init__(self) -> None:
        self.is_set = False
        self._lock = threading.Lock()
        self._kernels: set[Kernel] = set()

    def set(self) -> None:
        with self._lock:
            self.is_set = True
            for kernel in self._kernels:
                kernel.terminate()

    @contextmanager
    def ends(self, kernel: Kernel) -> Iterator[None]:
        """End ``kernel`` if it is set within the block. Raises :class:`Interrupted` if it is set already."""
        with self._lock:
            if self.is_set:
                raise Interrupted
            self._kernels.add(kernel)
        try:
            yield
        finally:
            with self._lock:
                self._kernels.discard(kernel)
            if self.is_set:
                raise Interrupted


class Running:
    """One submission. ``stop``: once it is set, its kernel ends, and :class:`Interrupted` is raised."""

    def __init__(self, sheet: Sheet, house: Path, beside: Path | None, bounds: Limits, stop: Stop) -> None:
        self._sheet, self._house, self._beside, self._bounds, self._stop = sheet, house, beside, bounds, stop
        self.findings: dict[str, Finding] = {}
        self.notes: list[str] = []  # what happened outside of the exercises
        self._left: float = bounds.total

    def run(self) -> None:
        """Fill in ``findings``, one for each exercise that is reached."""
        lost: Cell | str | None = ""
        while lost is not None and self._left > 0:
            room = Room(self._house, self._beside, self._bounds.user)
            try:
                lost = self._once(room)
            finally:
                room.leave()
            if room.left_out and not self.notes:
                self.notes.append(f"The {room.left_out} files beside it were left out: they are too many or too large.")

    def _once(self, room: Room) -> Cell | str | None:
        """One run in one kernel; returns what ended it, a cell or the id of an exercise, or None."""
        kernel = Kernel(room, self._bounds)
        try:
            with self._stop.ends(kernel):
                kernel.begin()
                began = time.monotonic()
                kernel.deadline = began + self._left
                try:
                    return self._steps(kernel, room.path)
                finally:
                    self._left -= time.monotonic() - began
        finally:
            kernel.kill()

    def _steps(self, kernel: Kernel, folder: Path) -> Cell | str | None:
        broken: dict[str, str] = {}
        for step in self._sheet.steps:
            if time.monotonic() > kernel.deadline:
                return None
            try:
                if step.cell is not None and step.cell.source.strip():
                    error = kernel.run(step.cell.source)
                    if step.cell.exercise is not None:
                        broken[step.cell.exercise.id] = error
                elif step.exercise is not None and step.exercise.id not in self._decided:
                    found = judging.judge(step.exercise, kernel, folder, self._bounds.cell)
                    self.findings[step.exercise.id] = self._with_error(found, broken.get(step.exercise.id, ""))
            except Ended as end:
                return self._lost(step.cell, step.exercise.id if step.exercise else "", str(end))
        return None

    @property
    def _decided(self) -> set[str]:
        """The exercises that are not judged again."""
        return {name for name, found in self.findings.items() if found.status == "lost"} | set(self._sheet.conflicts)

    def _lost(self, cell: Cell | None, exercise: str, why: str) -> Cell | str:
        """Leave out what ended a kernel, so that another run goes further."""
        if cell is None:
            self.findings[exercise] = Finding("lost", f"Your code {why}.")
            if (answer := self._sheet.answers[exercise]) is not None:
                answer.source = ""
            return exercise
        if cell.exercise is not None:
            self.findings[cell.exercise.id] = Finding("lost", f"The cell of the answer {why}.")
        else:
            self.notes.append(f"{cell.place} {why}; graded without it.")
        cell.source = ""
        return cell

    def _with_error(self, found: Finding, error: str) -> Finding:
        """What is open because the cell of the answer stopped with an error is wrong, and says so."""
        if found.status != "open" or not error:
            return found
        if error.startswith("KeyboardInterrupt"):
            return Finding("wrong", f"Your code did not end within {self._bounds.cell:g} s.")
        return Finding("wrong", f"The cell of the answer stops with {error}.")
