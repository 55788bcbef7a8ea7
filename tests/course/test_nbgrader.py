"""The course under nbgrader, with the commands of the page for instructors and the configuration that is shipped."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from traitlets.config.loader import PyFileConfigLoader

from fedlab_core.progress import watched
from fedlab_course.check import cells
from fedlab_course.grading.nbgrader import course
from tests.course.nbgrader_class import EXERCISES, PROOF, RIGHT, ROOT, TRAINING, answering, call, grades, submit

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "teaching" / "nbgrader.md"


def of_page() -> list[str]:
    """The commands that the page tells to run, in order."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The course folder after all commands of the page, and what each command printed."""
    pytest.importorskip("nbgrader", reason="needs the extra nbgrader")
    folder, printed = tmp_path_factory.mktemp("class"), {}
    for command in of_page():
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        if command == "nbgrader autograde 02":
            one_wrong = RIGHT | {cells.cell_id(TRAINING, "answer"): TRAINING.with_mistake(TRAINING.mistakes[0])}
            submit(folder, "02", "solved", answering(RIGHT | {PROOF: "κ cancels in the fraction."}))
            submit(folder, "02", "unsolved", answering({}))
            submit(folder, "02", "wrong", answering(one_wrong))
        printed[command] = call(command, folder)
    return folder, printed


def test_the_gradebook_has_the_points_of_each_exercise(graded: tuple[Path, dict[str, str]]) -> None:
    folder, _ = graded
    full = {one.id: (float(one.points), False) for one in EXERCISES}
    none = {one.id: (0.0, False) for one in EXERCISES}
    proof = "02-equal-parts"
    assert grades(folder, "02", "solved") == full | {proof: (None, True)}
    assert grades(folder, "02", "unsolved") == none | {proof: (0.0, False)}
    assert grades(folder, "02", "wrong") == full | {TRAINING.id: (0.0, False), proof: (0.0, False)}
    table = (folder / "grades.csv").read_text()
    assert all(f",{student}," in table for student in ("solved", "unsolved", "wrong"))


def test_the_feedback_shows_hints_to_those_who_need_them(graded: tuple[Path, dict[str, str]]) -> None:
    folder, _ = graded
    pages = {path.parts[-3]: path.read_text(encoding="utf-8") for path in folder.glob("feedback/*/02/*.html")}
    assert set(pages) == {"solved", "unsolved", "wrong"}
    hint = "place of the <code>...</code>"
    assert {name: text.count(hint) for name, text in pages.items()} == {"solved": 0, "unsolved": 3, "wrong": 0}
    assert "changes <code>w</code> in place" in pages["wrong"]
    assert "changes <code>w</code> in place" not in pages["solved"] + pages["unsolved"]


def test_what_is_released_is_the_student_s_version(graded: tuple[Path, dict[str, str]]) -> None:
    folder, printed = graded
    made = {cell.id: cell for cell in nbformat.read(folder / "release/02/02_fedprox.ipynb", as_version=4).cells}
    for one in EXERCISES:
        assert made[cells.cell_id(one, "answer")].source == one.stub_source.strip()
    assert made[PROOF].source == "Your proof."
    # Three checks, and the proof that is not written.
    assert "VALIDATION FAILED ON 4 CELL(S)" in printed["nbgrader validate release/02/02_fedprox.ipynb"]


def test_a_kernel_of_nbgrader_s_is_headless(graded: tuple[Path, dict[str, str]]) -> None:
    notebook = nbformat.read(graded[0] / "autograded/solved/02/02_fedprox.ipynb", as_version=4)
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "application/vnd.plotly.v1+json" in kinds
    assert "application/vnd.jupyter.widget-view+json" not in kinds
    assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"]


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
    assert course.write(tmp_path, only=["00", "02"]) == [first[1], tmp_path / "source" / "02" / "02_fedprox.ipynb"]
    assert first[0].read_text() == "# mine"


def test_nothing_is_graded_where_the_grader_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader only logs what goes wrong in its configuration, and gives points in its own way."""
    course.write(tmp_path, only=["00"])
    monkeypatch.setitem(sys.modules, "fedlab_course.grading.nbgrader.judged", None)
    monkeypatch.delattr("fedlab_course.grading.nbgrader.judged", raising=False)
    with pytest.raises(SystemExit, match=r"nbgrader_config\.py: .*judged"):
        PyFileConfigLoader(course.CONFIG, path=str(tmp_path)).load_config()
