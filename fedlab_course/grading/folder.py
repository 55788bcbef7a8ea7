"""Grade a folder of submissions, several at once, into one table."""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from fedlab_course.grading import one, room, sheet
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.rows import GradingFailed, Row, clean, total
from fedlab_course.grading.running import Stop
from fedlab_course.grading.table import Table


@dataclass
class Submission:
    """A file below the folder; ``student``: whose it is; ``problem``: why it cannot be graded, "" if it can."""

    path: Path
    name: str
    student: str
    digest: str = ""
    problem: str = ""
    exercises: list[str] = field(default_factory=list)


def grade_folder(
    folder: Path,
    csv: Path,
    jobs: int = 1,
    bounds: Limits | None = None,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Grade every notebook below ``folder`` into the table ``csv``, ``jobs`` at once, and return what went wrong.

    What the table holds already is not graded again, unless the file has changed since. Raises ``ValueError`` for a
    folder without notebooks and for a table that is none.
    """
    found = submissions(folder)
    table = Table(csv, sorted({name for each in found for name in each.exercises}))
    todo = [each for each in found if not table.has(each.name, each.digest)]
    if len(todo) < len(found):
        say(f"{len(found) - len(todo)} of {len(found)} are graded already")
    stop, lock = Stop(), threading.Lock()
    problems: list[str] = []

    def enter(each: Submission, rows: list[Row]) -> None:
        with lock:
            table.add(each.student, each.name, each.digest, rows, each.problem)
            points, of = total(rows)
            say(f"{clean(each.name)}: {each.problem or f'{points} of {of} points'}")
            if each.problem:
                problems.append(f"{clean(each.name)}: {each.problem}")

    def work(each: Submission) -> None:
        rows: list[Row] = []
        if not each.problem:
            given = sheet.sheet(sheet.read(each.path), each.name)
            try:
                rows = one.grade_sheet(given, one.beside(each.path), bounds or Limits(), house, stop)
            except (GradingFailed, OSError) as error:  # it may have files beside it that keep Python from starting
                each.problem = clean(str(error))
        enter(each, rows)

    with room.house() as house:
        _all(jobs, work, todo, stop)
    return problems


def _all(jobs: int, work: Callable[[Submission], None], todo: list[Submission], stop: Stop) -> None:
    """Do all the work. Once something is wrong with the machine, or we are interrupted, no more is begun."""
    waiting, running = list(todo), set[Future[None]]()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.add(pool.submit(work, waiting.pop(0)))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()
        except BaseException:
            stop.set()  # those that run end at the next look; the pool waits for them
            raise


def submissions(folder: Path) -> list[Submission]:
    """The notebooks below ``folder``, in order, hidden ones and nbgrader's checkpoints left out.

    Whose one is: the first folder below ``folder``, as in nbgrader's ``submitted/STUDENT/ASSIGNMENT/``, and without
    one the name of the file. Raises ``ValueError`` if there are none.
    """
    paths = [path for path in sorted(folder.rglob("*.ipynb")) if not _hidden(path.relative_to(folder))]
    if not paths:
        raise ValueError(f"{folder}: no notebooks (*.ipynb) in it or below")
    return [_submission(path, path.relative_to(folder)) for path in paths]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _submission(path: Path, inside: Path) -> Submission:
    found = Submission(path, inside.as_posix(), inside.parts[0] if len(inside.parts) > 1 else path.stem)
    try:
        if path.is_symlink():
            raise ValueError(f"{path}: is a link, and may lead anywhere")
        found.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        found.exercises = [exercise.id for exercise in sheet.sheet(sheet.read(path), str(path)).exercises]
    except (ValueError, OSError) as error:
        found.problem = clean(str(error).removeprefix(f"{path}: "))
    return found
