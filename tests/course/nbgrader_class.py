"""A class under nbgrader: its commands, what students hand in for chapter 2, and the gradebook."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat

from fedlab_course.check import cells, exercises

ROOT = Path(__file__).parents[2]
STEP, TRAINING, POINT = EXERCISES = [one for one in exercises.every() if one.chapter == "02"]
RIGHT = {cells.cell_id(one, "answer"): one.solution_source for one in EXERCISES}
PROOF = "ex-02-equal-parts-answer"


def call(command: str, folder: Path, *, check: bool = True) -> str:
    """What ``command`` prints, run in ``folder`` as in an activated environment without settings of its user."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "FEDLAB_HEADLESS")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    settings = str(folder.parent / "settings")
    environment |= {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": settings, "IPYTHONDIR": settings}
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0 or not check, done.stdout
    return done.stdout


def submit(folder: Path, assignment: str, student: str, change: Callable[[list], None]) -> None:
    """Hand in the released notebook with its cells changed."""
    name = "02_fedprox.ipynb"
    notebook = nbformat.read(folder / "release" / assignment / name, as_version=4)
    change(notebook.cells)
    notebook.nbformat_minor = 5 if "id" in notebook.cells[0] else 4
    path = folder / "submitted" / student / assignment / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def answering(answers: dict[str, str]) -> Callable[[list], None]:
    """The change that writes the ``answers``, cell id → source."""

    def change(made: list) -> None:
        for cell in made:
            cell.source = answers.get(cell.id, cell.source)

    return change


def grades(folder: Path, assignment: str, student: str) -> dict[str, tuple[float | None, bool]]:
    """Exercise → its score from autograding and whether it waits for a person, in the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        (notebook,) = gradebook.find_submission(assignment, student).notebooks
        found = {grade.name: (grade.auto_score, bool(grade.needs_manual_grade)) for grade in notebook.grades}
    return {re.sub(r"^ex-|-check$|-answer$", "", name): score for name, score in found.items()}
