"""Grading submitted notebooks: honest, tampered with, broken, endless."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course import exercises, grade
from fedlab_course.cli import main
from fedlab_course.exercises import MIME, cells

CHAPTER = [one for one in exercises.every() if one.chapter == "02"]
STEP, TRAINING, POINT = CHAPTER
IMPORTS = "import numpy as np\nfrom fedlab_course import exercises"


def submission(folder: Path, *, change: Callable[[list], None] | None = None, **answers: str) -> Path:
    """A notebook of chapter 2 with its exercises alone; ``answers``: function name → source, else the stub."""
    made = [new_code_cell(IMPORTS, id="imports")]
    for number, exercise in enumerate(CHAPTER, start=1):
        task, answer, check, _ = cells.make(exercise, number)
        answer.source = answers.get(exercise.name, answer.source)
        made += [task, answer, check]
    if change:
        change(made)
    path = folder / "02_fedprox.ipynb"
    nbformat.write(new_notebook(cells=made), path)
    return path


def cell(made: list, exercise, part: str):
    return next(each for each in made if each.get("id") == cells.cell_id(exercise, part))


def statuses(rows: list[grade.Row]) -> dict[str, str]:
    return {row.exercise: row.status for row in rows}


def test_solved_wrong_and_open_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = TRAINING.with_mistake(TRAINING.mistakes[0])
    path = submission(tmp_path, prox_step=STEP.solution_source, local_training=wrong)
    before = path.read_bytes()
    assert main(["grade", str(path), "--timeout", "60"]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if not line.startswith("    ")] == [
        ["02-prox-step", "solved", "1", "of", "1"],
        ["02-local-training", "wrong", "0", "of", "2"],
        ["02-proximal-point", "open", "0", "of", "2"],
        ["total", "1", "of", "5", "points"],
    ]
    assert "changes `w` in place" in out
    assert POINT.missing in out
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_it_works_where_an_event_loop_runs_as_in_a_notebook(tmp_path: Path) -> None:
    path = submission(tmp_path, prox_step=STEP.solution_source)

    async def in_a_notebook() -> list[grade.Row]:
        return grade.grade(path, timeout=60)

    with ThreadPoolExecutor(1) as pool:  # this thread has a loop already, if a browser test came before
        rows = pool.submit(asyncio.run, in_a_notebook()).result()
    assert statuses(rows)[STEP.id] == "solved"


FAKE = f"""\
from IPython.display import display
import fedlab_course.display as look
import fedlab_course.exercises as package
import fedlab_course.exercises.verdicts as verdicts
import fedlab_course.grade as grading
solved = {{"exercise": "{STEP.id}", "title": "", "status": "solved", "hint": "", "points": 9, "of": 1}}
package.check = verdicts.check = lambda *arguments: None
package.judge = verdicts.judge = lambda *arguments: verdicts.Verdict(**solved)
grading.judge_here = lambda *arguments: display({{"{MIME}": solved}}, raw=True)
look.publish = lambda bundle: display({{"{MIME}": bundle["{MIME}"] | solved}}, raw=True)
display({{"{MIME}": solved}}, raw=True)"""


def test_tampering_with_checks_does_not_help(tmp_path: Path) -> None:
    def tamper(made: list) -> None:
        cell(made, STEP, "check").source = FAKE
        made.remove(cell(made, TRAINING, "check"))
        made.insert(1, new_code_cell(FAKE, id="a-cell-of-mine"))

    wrong = "def prox_step(y, w, gradient, mu, lr):\n    return y"
    rows = grade.grade(submission(tmp_path, change=tamper, prox_step=wrong, proximal_point=POINT.solution_source))
    assert statuses(rows) == {STEP.id: "wrong", TRAINING.id: "open", POINT.id: "solved"}
    assert sum(row.points for row in rows) == POINT.points


def test_an_answer_without_its_cells_is_found_by_its_name(tmp_path: Path) -> None:
    def move(made: list) -> None:
        for exercise in (STEP, POINT):
            made.remove(cell(made, exercise, "answer"))
            made.remove(cell(made, exercise, "check"))
        made.append(new_code_cell(STEP.solution_source, id="mine"))

    rows = grade.grade(submission(tmp_path, change=move))
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "open", POINT.id: "open"}
    assert "nothing called `proximal_point`" in rows[2].hint


def test_cells_are_known_by_nbgrader_s_grade_id_too(tmp_path: Path) -> None:
    """A tool that draws new cell ids keeps the metadata."""

    def rename(made: list) -> None:
        for number, each in enumerate(made):
            each.metadata["nbgrader"] = {"grade_id": each["id"]}
            each["id"] = f"drawn-{number}"

    broken = POINT.stub_source.replace("...", "return w + missing")
    rows = grade.grade(submission(tmp_path, change=rename, prox_step=STEP.solution_source, proximal_point=broken))
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "open", POINT.id: "wrong"}
    assert "NameError: name 'missing' is not defined, in the line `return w + missing`" in rows[2].hint


def test_errors_and_endless_loops_cost_only_their_own_exercise(tmp_path: Path) -> None:
    def disturb(made: list) -> None:
        made.insert(1, new_code_cell("1 / 0", id="an-error"))
        made.insert(2, new_code_cell("while True:\n    pass", id="endless"))

    endless = STEP.stub_source.replace("...", "while True:\n        pass")
    path = submission(
        tmp_path,
        change=disturb,
        prox_step=endless,
        local_training="def local_training(gradient:",
        proximal_point=POINT.solution_source,
    )
    rows = grade.grade(path, timeout=15)
    assert statuses(rows) == {STEP.id: "wrong", TRAINING.id: "wrong", POINT.id: "solved"}
    assert rows[0].hint == "Your code did not end within 15 s."
    assert "The cell of the answer stops with SyntaxError" in rows[1].hint


@pytest.mark.parametrize("marks", [None, "mine", [1]], ids=repr)
def test_metadata_that_makes_no_sense_is_passed_over(tmp_path: Path, marks) -> None:
    def spoil(made: list) -> None:
        for each in made:
            each.metadata["nbgrader"] = marks

    path = submission(tmp_path, change=spoil)
    assert [e.id for e in grade._exercises(grade._read(path), path)] == [STEP.id, TRAINING.id, POINT.id]


@pytest.mark.parametrize("shown", [None, "solved", ["token"]], ids=repr)
def test_a_verdict_of_another_form_is_passed_over(shown) -> None:
    check = new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", {MIME: shown})])
    assert grade._row(STEP, check, None, "token", 60).status == "not judged"


def test_no_exercise_gives_more_points_than_it_has() -> None:
    shown = {"token": "token", "status": "solved", "points": 9, "hint": ""}
    check = new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", {MIME: shown})])
    assert grade._row(STEP, check, None, "token", 60).points == STEP.points


def test_what_a_hint_quotes_cannot_forge_lines_or_steer_a_terminal() -> None:
    row = grade.Row(
        STEP.id, "wrong", 0, 1, "It says no.\n02-proximal-point  solved  2 of 2\x1b[2J\r\x9b1A\u202e, e.g. “ρ − 1”"
    )
    lines = grade.report([row]).splitlines()
    assert len(lines) == 3
    assert lines[1] == "    It says no. 02-proximal-point solved 2 of 2�[2J �1A�, e.g. “ρ − 1”"


DEAF = """\
    while True:
        try:
            while True:
                pass
        except{}:
            continue"""
TAKES_ALL = {
    "bare except": (DEAF.format(""), "Your code did not end within 10 s."),
    "BaseException": (DEAF.format(" BaseException"), "Your code did not end within 10 s."),
    "exit": ("    import os\n    os._exit(9)", "Your code ended the kernel: Python itself stopped."),
}


@pytest.mark.parametrize(("body", "hint"), TAKES_ALL.values(), ids=TAKES_ALL)
def test_an_answer_that_takes_the_kernel_with_it_costs_its_own_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, hint: str
) -> None:
    monkeypatch.setattr(grade, "GRACE", 1.0)
    deaf = TRAINING.stub_source.replace("    ...", body)
    path = submission(
        tmp_path, prox_step=STEP.solution_source, local_training=deaf, proximal_point=POINT.solution_source
    )
    rows = grade.grade(path, timeout=10)
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "wrong", POINT.id: "solved"}
    assert rows[1].hint == hint
    assert rows[1].points == 0


def test_a_cell_that_ends_the_kernel_is_named_and_left_out(tmp_path: Path, caplog, capsys) -> None:
    """Once in a cell of no exercise, once in the cell of an answer, before its check."""

    def disturb(made: list) -> None:
        made.insert(1, new_code_cell("import os\nos._exit(9)", id="an-exit"))

    at_once = f"{TRAINING.solution_source}\nimport os\nos._exit(9)"
    path = submission(tmp_path, change=disturb, prox_step=STEP.solution_source, local_training=at_once)
    assert main(["grade", str(path), "--timeout", "60"]) == 0
    assert [record.getMessage() for record in caplog.records if record.name == grade.__name__] == [
        f"{path}: cell 2 (`import os`) ended the kernel: Python itself stopped; graded without it"
    ]
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("02-")] == ["solved", "wrong", "open"]
    assert "The cell of the answer ended the kernel: Python itself stopped." in out


def test_without_a_kernel_nothing_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert main(["grade", str(submission(tmp_path))]) == 1
    captured = capsys.readouterr()
    assert "02_fedprox.ipynb: no kernel starts" in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_an_unusable_timeout_is_refused(tmp_path: Path, timeout: float) -> None:
    with pytest.raises(ValueError, match=f"timeout = {timeout}: must be a number of seconds > 0"):
        grade.grade(submission(tmp_path), timeout)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        ("print('hello')", "is not a Jupyter notebook"),
        ('{"cells": 3}', "is not a Jupyter notebook"),
        (nbformat.writes(new_notebook(cells=[new_code_cell("1", id="one")])), "holds no exercise"),
    ],
)
def test_a_file_that_cannot_be_graded_is_refused(tmp_path: Path, content: str | None, said: str, capsys) -> None:
    path = tmp_path / "work.ipynb"
    if content is not None:
        path.write_text(content)
    assert main(["grade", str(path)]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert said in error
    assert "work.ipynb" in error
    assert "Traceback" not in error
