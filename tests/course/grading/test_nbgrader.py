"""The course under nbgrader: the commands of the page for instructors, and points that are for
answers alone.

The configuration is the one that is shipped.
"""

import html
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from traitlets.config.loader import PyFileConfigLoader

from fedlab_core.progress import watched
from fedlab_course.check import cells, registry
from fedlab_course.grading.nbgrader import course

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
STEP, TRAINING, _ = EXERCISES = [one for one in registry.every() if one.chapter == "13"]
RIGHT = {cells.cell_id(one, "answer"): one.solution_source for one in EXERCISES}
PROOF = "ex-13-falls-answer"
POINTS = sum(one.points for one in EXERCISES)


def call(command: str, folder: Path, *, check: bool = True) -> str:
    """What ``command`` prints, run in ``folder`` as in an activated environment without settings of
    its user.
    """
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CI", "FEDLAB_HEADLESS")
    }
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    settings = str(folder.parent / "settings")
    environment |= {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": settings, "IPYTHONDIR": settings}
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 or not check, done.stdout
    return done.stdout


def submit(folder: Path, student: str, change: Callable[[list], None]) -> None:
    """Hand in the released notebook with its cells changed."""
    name = "13_what_updates_reveal.ipynb"
    notebook = nbformat.read(folder / "release" / "13" / name, as_version=4)
    change(notebook.cells)
    notebook.nbformat_minor = 5 if "id" in notebook.cells[0] else 4
    path = folder / "submitted" / student / "13" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def answering(answers: dict[str, str], *, alone: bool = False) -> Callable[[list], None]:
    """The change that writes the ``answers``, cell id → source; ``alone``: and leaves only the
    exercises.
    """

    def change(made: list) -> None:
        if alone:  # one student's whole chapter shows that it runs
            made[:] = [cell for cell in made if cell.id in BEFORE or cell.id.startswith("ex-")]
        for cell in made:
            cell.source = answers.get(cell.id, cell.source)

    return change


def grades(folder: Path, student: str) -> dict[str, tuple[float | None, bool]]:
    """Exercise → its score from autograding and whether it waits for a person, in the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        (notebook,) = gradebook.find_submission("13", student).notebooks
        found = {
            grade.name: (grade.auto_score, bool(grade.needs_manual_grade))
            for grade in notebook.grades
        }
    return {re.sub(r"^ex-|-check$|-answer$", "", name): score for name, score in found.items()}


IMPORTS = (
    "import numpy as np\nimport torch\nfrom scipy.stats import norm\n\nimport fedlab_core as fl\n"
    "from fedlab_course.check import exercises"
)
BEFORE = ("moves-explorer", "parameters", "set-up")
PAGE = ROOT / "docs" / "teaching" / "nbgrader.md"


def of_page() -> list[str]:
    """The commands that the page tells to run, in order."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The course folder after all commands of the page, and what each command printed."""
    pytest.importorskip("nbgrader", reason="needs the extra nbgrader")
    folder = tmp_path_factory.mktemp("class")
    printed = {}
    for command in of_page():
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        if command == "nbgrader autograde 13":
            one_wrong = RIGHT | {
                cells.cell_id(TRAINING, "answer"): TRAINING.with_mistake(TRAINING.mistakes[0])
            }
            submit(folder, "solved", answering(RIGHT | {PROOF: "The softmax sums to one."}))
            submit(folder, "unsolved", answering({}, alone=True))
            submit(folder, "wrong", answering(one_wrong, alone=True))
        printed[command] = call(command, folder)
    return folder, printed


def test_the_gradebook_has_the_points_of_each_exercise(graded: tuple[Path, dict[str, str]]) -> None:
    folder, _ = graded
    full = {one.id: (float(one.points), False) for one in EXERCISES}
    none = {one.id: (0.0, False) for one in EXERCISES}
    proof = "13-falls"
    assert grades(folder, "solved") == full | {proof: (None, True)}
    assert grades(folder, "unsolved") == none | {proof: (0.0, False)}
    assert grades(folder, "wrong") == full | {TRAINING.id: (0.0, False), proof: (0.0, False)}
    table = (folder / "grades.csv").read_text()
    assert all(f",{student}," in table for student in ("solved", "unsolved", "wrong"))


def test_the_feedback_shows_hints_to_those_who_need_them(
    graded: tuple[Path, dict[str, str]],
) -> None:
    folder, _ = graded
    pages = {
        path.parts[-3]: path.read_text(encoding="utf-8")
        for path in folder.glob("feedback/*/13/*.html")
    }
    assert set(pages) == {"solved", "unsolved", "wrong"}
    hint = "place of the <code>...</code>"
    assert {name: text.count(hint) for name, text in pages.items()} == {
        "solved": 0,
        "unsolved": len(EXERCISES),
        "wrong": 0,
    }
    own = html.escape(TRAINING.mistakes[0].hint)
    assert {name: own in text for name, text in pages.items()} == {
        "solved": False,
        "unsolved": False,
        "wrong": True,
    }


def test_what_is_released_is_the_student_s_version(graded: tuple[Path, dict[str, str]]) -> None:
    folder, printed = graded
    made = {
        cell.id: cell
        for cell in nbformat.read(
            folder / "release/13/13_what_updates_reveal.ipynb", as_version=4
        ).cells
    }
    for one in EXERCISES:
        assert made[cells.cell_id(one, "answer")].source == one.stub_source.strip()
    assert made[PROOF].source == "Your proof."
    failing = len(EXERCISES) + 1  # the checks, and the proof that is not written
    assert (
        f"VALIDATION FAILED ON {failing} CELL(S)"
        in printed["nbgrader validate release/13/13_what_updates_reveal.ipynb"]
    )


def test_a_kernel_of_nbgrader_s_is_headless(graded: tuple[Path, dict[str, str]]) -> None:
    notebook = nbformat.read(
        graded[0] / "autograded/solved/13/13_what_updates_reveal.ipynb", as_version=4
    )
    kinds = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert "application/vnd.plotly.v1+json" in kinds
    assert "application/vnd.jupyter.widget-view+json" not in kinds
    assert not [
        o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"
    ]


def test_nobody_watches_while_nbgrader_runs_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "FEDLAB_HEADLESS", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert watched()
    for how in ("autograde", "validate"):
        monkeypatch.setenv("NBGRADER_EXECUTION", how)
        assert not watched()


def test_building_again_keeps_the_configuration(tmp_path: Path) -> None:
    first = course.write(tmp_path, only=["00"])
    assert [path.relative_to(tmp_path).as_posix() for path in first] == [
        "nbgrader_config.py",
        "source/00/00_start_here.ipynb",
    ]
    first[0].write_text("# mine")
    assert course.write(tmp_path, only=["00", "02"]) == [
        first[1],
        tmp_path / "source" / "02" / "02_fedprox.ipynb",
    ]
    assert first[0].read_text() == "# mine"


def test_nothing_is_graded_where_the_grader_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nbgrader only logs what goes wrong in its configuration, and gives points in its own way."""
    course.write(tmp_path, only=["00"])
    monkeypatch.setitem(sys.modules, "fedlab_course.grading.nbgrader.judged", None)
    monkeypatch.delattr("fedlab_course.grading.nbgrader.judged", raising=False)
    with pytest.raises(SystemExit, match=r"nbgrader_config\.py: .*judged"):
        PyFileConfigLoader(course.CONFIG, path=str(tmp_path)).load_config()


STEP_ANSWER, STEP_CHECK = (cells.cell_id(STEP, part) for part in ("answer", "check"))
WRONG = STEP.with_mistake(STEP.mistakes[0])


def mangled(made: list) -> None:
    """Right answers in a notebook whose marks are changed, lost or doubled."""
    answering(RIGHT)(made)
    known = {cell.id: cell for cell in made}
    known[STEP_CHECK].metadata["nbgrader"] |= {"points": 50.0, "schema_version": 99}
    known[STEP_ANSWER].metadata["nbgrader"]["grade"] = True
    known[BEFORE[0]].metadata["nbgrader"] = None
    known["ex-13-labels-task"].metadata["nbgrader"] = "text"
    known["ex-13-class-task"].metadata["nbgrader"]["grade_id"] = 5
    made.remove(known["ex-13-class-check"])
    made.remove(known[PROOF])
    copy = nbformat.from_dict(
        {**known[STEP_ANSWER], "id": "a-copy", "source": STEP.stub_source.strip()}
    )
    made.insert(1, copy)


def exiting(made: list) -> None:
    """Right answers, and a cell after the imports that ends the kernel; `exit()` lets it live on
    for a while.
    """
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
    "    import sys, warnings\n    print('working', file=sys.stderr)\n"
    "    warnings.warn('half way')\n    return"
)
LOUDLY = RIGHT | {STEP_ANSWER: STEP.solution_source.replace("    return", LOUD)}
# what is handed in, and the points it is worth
TRICKS: dict[str, tuple[Callable[[list], None], float]] = {
    "cheats": (answering({STEP_ANSWER: WRONG + CHEATS, STEP_CHECK: "print('solved')"}), 0),
    "mangled": (mangled, POINTS),
    "ids": (without_ids, POINTS),
}
# … where nbgrader runs the notebook as well
RUN: dict[str, tuple[Callable[[list], None], float]] = {
    "run-loud": (answering(LOUDLY), POINTS),
    "run-exits": (exiting, POINTS),
}


@pytest.fixture(scope="module")
def tricked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with an assignment of the exercises of chapter 13 alone, submitted by those
    who try.
    """
    pytest.importorskip("nbgrader", reason="needs the extra nbgrader")
    folder = tmp_path_factory.mktemp("tricks")
    (path,) = [path for path in course.write(folder, only=["13"]) if path.suffix == ".ipynb"]
    notebook = nbformat.read(path, as_version=4)
    answering({}, alone=True)(notebook.cells)
    notebook.cells[0].source = IMPORTS
    del notebook.cells[1:3]
    marks = {
        "grade": True,
        "solution": False,
        "locked": True,
        "points": 1,
        "grade_id": "own",
        "schema_version": 3,
    }
    notebook.cells.append(
        new_code_cell(
            "assert callable(labels_seen)", metadata={"nbgrader": marks | {"task": False}}
        )
    )
    nbformat.write(notebook, path)
    call("nbgrader generate_assignment 13", folder)
    for student, (change, _) in (TRICKS | RUN).items():
        submit(folder, student, change)
    broken = folder / "submitted" / "broken" / "13" / path.name
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    call("nbgrader autograde 13 --student 'run-*'", folder)
    said = call("nbgrader autograde 13 --no-execute", folder, check=False)
    assert "error processing assignment '13' for student 'broken'" in said
    return folder


def test_points_are_for_answers_whatever_a_submission_does(tricked: Path) -> None:
    for student, (_, points) in (TRICKS | RUN).items():
        found = grades(tricked, student)
        assert sum(found[one.id][0] for one in EXERCISES) == points, student
        assert all(0 <= found[one.id][0] <= one.points for one in EXERCISES), student
    assert grades(tricked, "run-loud")["own"] == (1.0, False)
    assert grades(tricked, "run-exits")["own"] == (0.0, False)  # its kernel did not live to run it


def test_a_mangled_notebook_is_restored_and_the_grader_s_remarks_are_shown(tricked: Path) -> None:
    made = {
        cell.id: cell
        for cell in nbformat.read(
            tricked / "autograded/mangled/13/13_what_updates_reveal.ipynb", 4
        ).cells
    }
    assert made[STEP_CHECK].metadata.nbgrader.points == 1
    assert made[STEP_ANSWER].source == STEP.solution_source
    assert any(output.get("text", "").startswith("Remark: ") for output in made[STEP_CHECK].outputs)
    assert grades(tricked, "mangled")["13-falls"] == (0.0, False)
