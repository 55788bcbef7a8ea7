"""Points under nbgrader are for answers, with the configuration that is shipped and whatever a submission does."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from fedlab_course.grading.nbgrader import course
from tests.course.nbgrader_class import EXERCISES, PROOF, RIGHT, STEP, answering, call, grades, submit

pytestmark = pytest.mark.slow
STEP_ANSWER, STEP_CHECK = "ex-02-prox-step-answer", "ex-02-prox-step-check"
WRONG = STEP.with_mistake(STEP.mistakes[0])


def mangled(made: list) -> None:
    """Right answers in a notebook whose marks are changed, lost or doubled."""
    answering(RIGHT)(made)
    known = {cell.id: cell for cell in made}
    known[STEP_CHECK].metadata["nbgrader"] |= {"points": 50.0, "schema_version": 99}
    known[STEP_ANSWER].metadata["nbgrader"]["grade"] = True
    known["imports"].metadata["nbgrader"] = None
    known["ex-02-local-training-check"].metadata["nbgrader"] = "text"
    known["ex-02-proximal-point-task"].metadata["nbgrader"]["grade_id"] = 5
    made.remove(known["ex-02-proximal-point-check"])
    made.remove(known[PROOF])
    copy = nbformat.from_dict({**known[STEP_ANSWER], "id": "a-copy", "source": STEP.stub_source.strip()})
    made.insert(1, copy)


def exiting(made: list) -> None:
    """Right answers, and a cell after the imports that ends the kernel; `exit()` lets it live on for a while."""
    answering(RIGHT)(made)
    made.insert(1, new_code_cell("import os\nos._exit(0)"))


def without_ids(made: list) -> None:
    """Right answers, saved by a program that is older than the ids of cells."""
    answering(RIGHT)(made)
    for cell in made:
        del cell["id"]


CHEATS = """
import os
os.environ.pop('NBGRADER_EXECUTION', None)
np.allclose = lambda *arguments, **more: True
class exercises:
    check = staticmethod(lambda *arguments: None)"""
LOUD = (
    "    import sys, warnings\n    print('working', file=sys.stderr)\n    warnings.warn('half way')\n    return y - lr"
)
LOUDLY = RIGHT | {STEP_ANSWER: STEP.solution_source.replace("    return y - lr", LOUD)}
TRICKS: dict[str, tuple[Callable[[list], None], float]] = {  # what is handed in, and the points it is worth
    "cheats": (answering({STEP_ANSWER: WRONG + CHEATS, STEP_CHECK: "print('solved')"}), 0),
    "mangled": (mangled, 5),
    "ids": (without_ids, 5),
}
RUN: dict[str, tuple[Callable[[list], None], float]] = {  # … where nbgrader runs the notebook as well
    "loud": (answering(LOUDLY), 5),
    "exits": (exiting, 5),
}


@pytest.fixture(scope="module")
def tricked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with an assignment of the exercises of chapter 2 alone, submitted by those who try."""
    pytest.importorskip("nbgrader", reason="needs the extra nbgrader")
    folder = tmp_path_factory.mktemp("tricks")
    (path,) = [path for path in course.write(folder, only=["02"]) if path.suffix == ".ipynb"]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id == "imports" or cell.id.startswith("ex-")]
    notebook.cells[0].source = "import numpy as np\nfrom fedlab_course.check import exercises"
    marks = {"grade": True, "solution": False, "locked": True, "points": 1, "grade_id": "own", "schema_version": 3}
    notebook.cells.append(new_code_cell("assert callable(prox_step)", metadata={"nbgrader": marks | {"task": False}}))
    nbformat.write(notebook, path)
    call("nbgrader generate_assignment 02", folder)
    for student, (change, _) in (TRICKS | RUN).items():
        submit(folder, "02", student, change)
    broken = folder / "submitted" / "broken" / "02" / path.name
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    for student in RUN:
        call(f"nbgrader autograde 02 --student {student}", folder)
    said = call("nbgrader autograde 02 --no-execute", folder, check=False)
    assert "error processing assignment '02' for student 'broken'" in said
    return folder


def test_points_are_for_answers_whatever_a_submission_does(tricked: Path) -> None:
    for student, (_, points) in (TRICKS | RUN).items():
        found = grades(tricked, "02", student)
        assert sum(found[one.id][0] for one in EXERCISES) == points, student
        assert all(0 <= found[one.id][0] <= one.points for one in EXERCISES), student
    assert grades(tricked, "02", "loud")["own"] == (1.0, False)
    assert grades(tricked, "02", "exits")["own"] == (0.0, False)  # its kernel did not live to run it


def test_a_mangled_notebook_is_restored_and_the_grader_s_remarks_are_shown(tricked: Path) -> None:
    made = {cell.id: cell for cell in nbformat.read(tricked / "autograded/mangled/02/02_fedprox.ipynb", 4).cells}
    assert made[STEP_CHECK].metadata.nbgrader.points == 1
    assert made[STEP_ANSWER].source == STEP.solution_source
    assert any(output.get("text", "").startswith("Remark: ") for output in made[STEP_CHECK].outputs)
    assert grades(tricked, "02", "mangled")["02-equal-parts"] == (0.0, False)
