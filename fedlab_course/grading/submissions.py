"""Grade one submission, or a folder of them: each has a judge in a process of its own, which is
killed at a limit.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import psutil
from tqdm.auto import tqdm

from fedlab_core import files
from fedlab_core.progress import watched
from fedlab_course import processes
from fedlab_course.check.exercises import Verdict
from fedlab_course.grading import workspace
from fedlab_course.grading.limits import Limits
from fedlab_course.grading.points_table import PointsTable, Submission, clean, total
from fedlab_course.grading.summary import summary
from fedlab_course.harness.course_run import each as each_at_once

MAX_FILE = 64 * 2**20  # bytes of a notebook
MAX_DEPTH = 12  # of folders that are looked at
_LOOK = 0.5  # seconds between two looks at the processes
_MAX_SAID = 16 * 2**20  # bytes of what a judge says


class GradingFailed(OSError):
    """A submission that could not be graded; the message says why."""


def grade(path: Path, bounds: Limits | None = None) -> list[Verdict]:
    """Grade a notebook: a row for each exercise. Raises ``ValueError`` without a file, or
    :class:`GradingFailed`.
    """
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
    submission = _submission(path, path.parent)
    with tqdm(desc=path.name, unit="exercise", leave=False, disable=not watched()) as bar:

        def show(rows: list[Verdict]) -> None:
            bar.total = len(rows)
            bar.n = sum(row.status != "not judged" for row in rows)
            bar.refresh()

        _judge(submission, bounds or Limits(), threading.Event(), show)
        show(submission.rows)
    if submission.problem:
        raise GradingFailed(f"{path}: {submission.problem}")
    return submission.rows


def grade_folder(folder: Path, csv: Path, jobs: int = 1, bounds: Limits | None = None) -> list[str]:
    """Grade the notebooks below ``folder`` that are new or changed into the table ``csv``. Return
    the problems.

    Prints a line for each submission, with an estimate of the time left, and a summary of the
    class. Another run on the same table waits. Raises ``ValueError`` for a folder without notebooks
    and for another table.
    """
    all_found = submissions(folder)
    with files.locked(csv.with_name(f".{csv.name}.lock")):
        written = PointsTable(csv)
        todo = written.ungraded(all_found)
        if len(todo) < len(all_found):
            print(f"{len(all_found) - len(todo)} of {len(all_found)} are graded already")
        _grade_all(todo, written, jobs, bounds or Limits())
        written.restore()
        print(summary(written.points(all_found), todo))
    problems = [f"{clean(each.name)}: {each.problem}" for each in todo if each.problem]
    if written.is_changed:
        problems.append(
            f"{csv}: something else wrote to the table during grading. It was written again from "
            f"memory, and the other file is {written.changed.name}. A submission may have done it: "
            "grade in a container"
        )
    return problems


def _grade_all(todo: Sequence[Submission], written: PointsTable, jobs: int, bounds: Limits) -> None:
    """Grade the submissions, ``jobs`` at once, and add each to the table as it is finished."""
    stop = threading.Event()
    start = time.monotonic()
    done = 0
    if todo:
        print(f"grading {len(todo)}, {min(jobs, len(todo))} at once", flush=True)

    def enter(each: Submission) -> None:
        nonlocal done
        written.add(each)
        done += 1
        points, of = total(each.rows)
        left = time_left(time.monotonic() - start, done, len(todo))
        print(
            (
                f"[{done}/{len(todo)}] {clean(each.name)}: "
                f"{each.problem or f'{points} of {of} points'}{left}"
            ),
            flush=True,
        )

    each_at_once(todo, jobs, lambda each: _judge(each, bounds, stop), enter, stop.set)


def time_left(seconds: float, done: int, of: int) -> str:
    """Estimate the time that the rest takes from the ``seconds`` that ``done`` of all submissions
    took, in words.
    """
    if done == of:
        return ""
    rest = seconds / done * (of - done)
    return f"; about {rest:.0f} s left" if rest < 90 else f"; about {rest / 60:.0f} min left"


def submissions(folder: Path) -> list[Submission]:
    """Find the notebooks below ``folder``, in order. Raises ``ValueError`` if there are none.

    The student is the first folder below ``folder``, as in nbgrader's ``submitted/``, or the name
    of the file.
    """
    all_found = [_submission(path, folder) for path in _below(folder)]
    if not all_found:
        raise ValueError(f"{folder}: no notebooks (*.ipynb) in it or below")
    return all_found


def _below(folder: Path) -> Iterator[Path]:
    """Yield every notebook below ``folder``, and each folder that is too deep to look at."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))  # those to walk
        for name in sorted(names):
            if name.endswith(".ipynb") and not name.startswith("."):
                yield Path(parent, name)
        if len(Path(parent).relative_to(folder).parts) == MAX_DEPTH:
            yield from (Path(parent, name) for name in folders)
            folders.clear()


def _submission(path: Path, folder: Path) -> Submission:
    relative = path.relative_to(folder)
    student = relative.parts[0] if len(relative.parts) > 1 else path.stem
    submission = Submission(path, relative.as_posix(), student)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            submission.problem = "is not a regular file, or is a folder too far down"
        elif path.stat().st_size > MAX_FILE:
            submission.problem = f"is larger than {MAX_FILE // 2**20} MB"
        else:
            submission.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        submission.problem = f"cannot be read ({error.strerror})"
    return submission


def _judge(
    each: Submission,
    bounds: Limits,
    stop: threading.Event,
    show: Callable[[list[Verdict]], None] | None = None,
) -> None:
    """Fill in the rows of a submission, or its problem. The judge also ends if this process does.

    ``show``: is called with the rows so far, again and again, where the system can read a file that
    is being written.
    """
    if each.problem:
        return
    seen: set[psutil.Process] = set()
    with workspace.temporary_folder() as folder, tempfile.TemporaryFile() as said:
        judge = _start_judge(each.path, folder, bounds, said)

        def look() -> None:
            # it leaves the place where the judge writes
            if show is not None and hasattr(os, "pread"):
                show(_rows(_last(os.pread(said.fileno(), _MAX_SAID, 0))))

        try:
            why = _watch(judge, seen, bounds, stop, look)
        finally:
            processes.end([*seen, judge])
            judge.stdin.close()
            judge.wait()
        said.seek(0)
        last = _last(said.read(_MAX_SAID))
    problem = "" if last else why or "its judge stopped"
    each.problem = clean(last.get("problem") or problem)
    each.rows = _rows(last)
    if why and each.rows:
        each.rows[0] = replace(each.rows[0], remark=f"{clean(why)}. {each.rows[0].remark}".strip())


def _start_judge(path: Path, folder: Path, bounds: Limits, output: IO[bytes]) -> psutil.Popen:
    """Start the judge of the submission at ``path``, with ``folder`` for its workspaces. What it
    prints goes to ``output``.
    """
    request = {"path": str(path.resolve()), "folder": str(folder), "limits": asdict(bounds)}
    python_path = [str(workspace.PACKAGES), os.environ.get("PYTHONPATH")]
    return psutil.Popen(
        [sys.executable, "-P", "-m", "fedlab_course.grading.judge", json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, python_path))},
        start_new_session=True,
    )


def _last(said: bytes) -> dict[str, Any]:
    """Return the last message of a judge, or {}."""
    lines = said.split(b"\n")[:-1]  # the last one may not be complete
    last: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return last


def _rows(message: dict[str, Any]) -> list[Verdict]:
    return [Verdict(**row) for row in message.get("rows", [])]


def _watch(
    judge: psutil.Popen,
    seen: set[psutil.Process],
    bounds: Limits,
    stop: threading.Event,
    look: Callable[[], None],
) -> str:
    """Wait for the end of a judge, and add the processes below it to ``seen``. Return the limit it
    passed, or "".

    ``look``: is called now and then.
    """
    deadline = time.monotonic() + bounds.total
    while judge.poll() is None and not stop.is_set():
        if time.monotonic() > deadline:
            return f"was stopped after {bounds.total:g} s"
        below = processes.below(judge)
        seen.update(below)
        if len(below) > bounds.processes or processes.memory([judge, *below]) > bounds.memory:
            processes.end(below)  # the judge goes on without the cell that did it
        with suppress(psutil.TimeoutExpired):
            judge.wait(_LOOK)
        look()
    return ""
