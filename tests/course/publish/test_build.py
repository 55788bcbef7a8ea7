"""The builds for students and instructors."""

from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders
from fedlab_course.check import cells, registry
from fedlab_course.cli import main
from fedlab_course.publish import build

EVERY = registry.every()
NAMES = sorted(path.name for path in folders.NOTEBOOKS.glob("*.ipynb"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, nbformat.NotebookNode]]:
    """Version → id → cell of all notebooks, as the command writes them."""
    found = {}
    for version in build.VERSIONS:
        folder = tmp_path_factory.mktemp("builds") / version
        assert main(["build", version, "--out", str(folder)]) == 0
        assert sorted(path.name for path in folder.iterdir()) == NAMES
        notebooks = [nbformat.read(path, as_version=4) for path in folder.iterdir()]
        for notebook in notebooks:
            nbformat.validate(notebook)
        found[version] = {
            f"{n} {cell.id}": cell for n, one in enumerate(notebooks) for cell in one.cells
        }
    return found


def parts(cells_: dict, part: str) -> list[str]:
    """The sources of the cells with this part of all exercises, in their order; "" for a missing
    one.
    """
    by_id = {name.split()[1]: cell.source for name, cell in cells_.items()}
    return [by_id.get(cells.cell_id(exercise, part), "") for exercise in EVERY]


def test_a_student_gets_the_stub_and_no_solution(built: dict[str, dict]) -> None:
    assert parts(built["student"], "answer") == [exercise.stub_source.strip() for exercise in EVERY]
    assert not any(parts(built["student"], "solution"))
    text = "\n".join(cell.source for cell in built["student"].values())
    assert not any(exercise.solution_source.strip() in text for exercise in EVERY)
    assert "folded away" not in text and "BEGIN SOLUTION" not in text


def test_an_instructor_gets_the_solution_between_its_markers(built: dict[str, dict]) -> None:
    for exercise, source in zip(EVERY, parts(built["instructor"], "answer"), strict=True):
        lines = source.splitlines()
        begin, end = (
            next(i for i, line in enumerate(lines) if marker in line)
            for marker in ("### BEGIN", "### END")
        )
        assert (
            "\n".join(lines[:begin]) + "\n"
            == exercise.stub_source.partition(lines[begin].split("#")[0] + "...")[0]
        )
        assert begin + 1 < end
        assert [
            line for line in lines if "SOLUTION" not in line
        ] == exercise.solution_source.strip().splitlines()
    assert not any(parts(built["instructor"], "solution"))


def test_cells_have_the_metadata_of_nbgrader(built: dict[str, dict]) -> None:
    """Schema 3 as in nbgrader's documentation of cell metadata; the course's own notebooks have
    none.
    """
    for version in build.VERSIONS:
        found = {cell.id: cell.metadata.get("nbgrader") for cell in built[version].values()}
        for exercise in EVERY:
            points = {"points": exercise.points}
            roles = {
                "task": {
                    "grade": False,
                    "solution": False,
                    "locked": True,
                    "cell_type": "markdown",
                },
                "answer": {"grade": False, "solution": True, "locked": False, "cell_type": "code"},
                "check": {"grade": True, "solution": False, "locked": True, "cell_type": "code"}
                | points,
            }
            for part, role in roles.items():
                id = cells.cell_id(exercise, part)
                assert found[id] == role | {"grade_id": id, "schema_version": 3, "task": False}
    for path in folders.NOTEBOOKS.glob("*.ipynb"):
        assert all(
            "nbgrader" not in cell.metadata for cell in nbformat.read(path, as_version=4).cells
        )


def test_only_some_notebooks_can_be_built(tmp_path: Path) -> None:
    assert [path.name for path in build.build("student", tmp_path, only=["02"])] == [
        "02_fedprox.ipynb"
    ]


def test_drift_between_notebook_and_registry_stops_a_build(tmp_path: Path) -> None:
    notebook = nbformat.read(folders.NOTEBOOKS / "02_fedprox.ipynb", as_version=4)
    answer = next(cell for cell in notebook.cells if cell.id == "ex-02-local-answer")
    answer.source = answer.source.replace("(w, k, ", "(k, w, ")
    nbformat.write(notebook, tmp_path / "02_fedprox.ipynb")
    with pytest.raises(ValueError, match=r"02_fedprox\.ipynb: cell ex-02-local-answer is not what"):
        build.build("student", tmp_path / "out", notebooks=tmp_path)
    assert not (tmp_path / "out").exists()


def test_the_notebooks_of_the_course_are_not_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["build", "student", "--out", str(folders.NOTEBOOKS)]) == 2
    assert "would overwrite" in " ".join(capsys.readouterr().err.split())
