"""A copy of the two packages for kernels of submissions, in which the exercises hold no solutions and no checks."""

import compileall
import shutil
import threading
from pathlib import Path

from fedlab_course import folders
from fedlab_course.check import registry

_PACKAGES = Path(__file__).resolve().parents[2]
_IMPORTS = "import numpy as np\nimport torch\n\nimport fedlab_core as fl\n"
_EXERCISES = '''\
"""The exercises as a submission sees them while it is graded: stubs. Answers are judged elsewhere."""


def check(name, answer):
    """Nothing: what is graded is not judged here."""


def or_solution(name, answer):
    """The answer as it is: while a submission is graded, nothing stands in for it."""
    return answer
'''
_lock = threading.Lock()


def write(folder: Path) -> None:
    """Write the copy to ``folder``, compiled, with the course's results beside it."""
    skip = shutil.ignore_patterns("notebooks", "results", "grading", "exercises", "build.*", "lint", "cli.*")
    for name in ("fedlab_core", "fedlab_course"):
        shutil.copytree(_PACKAGES / name, folder / name, ignore=skip)
    (folder / "notebooks").mkdir()  # where the package looks for them; what stands in them would be solutions
    shutil.copytree(folders.RESULTS, folder / "results", ignore=shutil.ignore_patterns("__pycache__"))
    exercises = folder / "fedlab_course" / "exercises"
    exercises.mkdir()
    (exercises / "__init__.py").write_text(_EXERCISES, encoding="utf-8")
    for chapter in sorted({exercise.chapter for exercise in registry.every()}):
        stubs = [exercise.stub_source for exercise in registry.every() if exercise.chapter == chapter]
        text = "\n\n".join([f'"""Stubs of chapter {int(chapter)}."""\n', _IMPORTS, *stubs])
        (exercises / f"chapter_{chapter}.py").write_text(text, encoding="utf-8")
    with _lock:  # it says what it does, and is told not to, by a switch of the process
        compileall.compile_dir(folder, quiet=2)


def copy(master: Path, folder: Path) -> None:
    """A copy of what :func:`write` wrote, for one submission alone: what it does to it reaches no other."""
    shutil.copytree(master, folder)
