"""The builds for students and instructors."""

from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders
from fedlab_course.check import cells, exercises
from fedlab_course.check.exercises import Exercise
from fedlab_course.cli import main
from fedlab_course.publish import build

EVERY = exercises.every()
NAMES = sorted(path.name for path in folders.NOTEBOOKS.glob("*.ipynb"))
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.id)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Version → folder, as the command writes them."""
    folders = {version: tmp_path_factory.mktemp("builds") / version for version in build.VERSIONS}
    for version, folder in folders.items():
        assert main(["build", version, "--out", str(folder)]) == 0
    return folders


def cell_of(folder: Path, exercise: Exercise, part: str):
    path = next(folder.glob(f"{exercise.chapter}_*.ipynb"))
    found = [c for c in nbformat.read(path, as_version=4).cells if c.id == cells.cell_id(exercise, part)]
    return found[0] if found else None


@pytest.mark.parametrize("version", build.VERSIONS)
def test_all_notebooks_are_there_and_valid(built: dict[str, Path], version: str) -> None:
    assert sorted(path.name for path in built[version].iterdir()) == NAMES
    for path in built[version].iterdir():
        nbformat.validate(nbformat.read(path, as_version=4))


@each
def test_a_student_gets_the_stub_and_no_solution(built: dict[str, Path], exercise: Exercise) -> None:
    assert cell_of(built["student"], exercise, "answer").source == exercise.stub_source.strip()
    assert cell_of(built["student"], exercise, "solution") is None
    path = next(built["student"].glob(f"{exercise.chapter}_*"))
    text = path.read_text(encoding="utf-8")
    assert not any(exercise.solution_source.strip() in cell.source for cell in nbformat.read(path, as_version=4).cells)
    assert "folded away" not in text
    assert "BEGIN SOLUTION" not in text


@each
def test_an_instructor_gets_the_solution_between_its_markers(built: dict[str, Path], exercise: Exercise) -> None:
    lines = cell_of(built["instructor"], exercise, "answer").source.splitlines()
    begin, end = (next(i for i, line in enumerate(lines) if marker in line) for marker in ("### BEGIN", "### END"))
    assert "\n".join(lines[:begin]) + "\n" == exercise.stub_source.partition(lines[begin].split("#")[0] + "...")[0]
    assert begin + 1 < end
    assert [line for line in lines if "SOLUTION" not in line] == exercise.solution_source.strip().splitlines()
    assert cell_of(built["instructor"], exercise, "solution") is None


@pytest.mark.parametrize("version", build.VERSIONS)
def test_cells_carry_nbgrader_s_metadata(built: dict[str, Path], version: str) -> None:
    """Schema 3 as in nbgrader's documentation of cell metadata."""
    for exercise in EVERY:
        roles = {
            "task": {"grade": False, "solution": False, "locked": True, "cell_type": "markdown"},
            "answer": {"grade": False, "solution": True, "locked": False, "cell_type": "code"},
            "check": {"grade": True, "solution": False, "locked": True, "cell_type": "code", "points": exercise.points},
        }
        for part, role in roles.items():
            wanted = role | {"grade_id": cells.cell_id(exercise, part), "schema_version": 3, "task": False}
            assert cell_of(built[version], exercise, part).metadata["nbgrader"] == wanted


def test_the_course_s_own_notebooks_carry_none_of_it() -> None:
    for path in folders.NOTEBOOKS.glob("*.ipynb"):
        assert all("nbgrader" not in cell.metadata for cell in nbformat.read(path, as_version=4).cells)


def test_only_some_notebooks_can_be_built(tmp_path: Path) -> None:
    assert [path.name for path in build.build("student", tmp_path, only=["02"])] == ["02_fedprox.ipynb"]


def test_drift_between_notebook_and_registry_stops_a_build(tmp_path: Path) -> None:
    notebook = nbformat.read(folders.NOTEBOOKS / "02_fedprox.ipynb", as_version=4)
    answer = next(cell for cell in notebook.cells if cell.id == "ex-02-prox-step-answer")
    answer.source = answer.source.replace("(y, w, ", "(w, y, ")
    nbformat.write(notebook, tmp_path / "02_fedprox.ipynb")
    with pytest.raises(ValueError, match=r"02_fedprox\.ipynb: cell ex-02-prox-step-answer is not what"):
        build.build("student", tmp_path / "out", notebooks=tmp_path)
    assert not (tmp_path / "out").exists()


def test_the_notebooks_of_the_course_are_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "student", "--out", str(folders.NOTEBOOKS)]) == 2
    assert "would overwrite" in capsys.readouterr().err


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be one of student, instructor"):
        build.build("teacher", tmp_path)
