"""Grading submitted notebooks: honest, tampered with, broken, endless."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course import grading
from fedlab_course.cli import main
from fedlab_course.grading import limits, rows
from tests.course.grading.sheets import POINT, STEP, TRAINING, cell, statuses, submission


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

    async def in_a_notebook() -> list[grading.Row]:
        return grading.grade(path, timeout=60)

    with ThreadPoolExecutor(1) as pool:  # this thread has a loop already, if a browser test came before
        rows = pool.submit(asyncio.run, in_a_notebook()).result()
    assert statuses(rows)[STEP.id] == "solved"


def test_an_answer_without_its_cells_is_found_by_its_name(tmp_path: Path) -> None:
    def move(made: list) -> None:
        for exercise in (STEP, POINT):
            made.remove(cell(made, exercise, "answer"))
            made.remove(cell(made, exercise, "check"))
        made.append(new_code_cell(STEP.solution_source, id="mine"))

    rows = grading.grade(submission(tmp_path, change=move))
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "open", POINT.id: "open"}
    assert "nothing called `proximal_point`" in rows[2].hint


def test_cells_are_known_by_nbgrader_s_grade_id_too(tmp_path: Path) -> None:
    """A tool that draws new cell ids keeps the metadata."""

    def rename(made: list) -> None:
        for number, each in enumerate(made):
            each.metadata["nbgrader"] = {"grade_id": each["id"]}
            each["id"] = f"drawn-{number}"

    broken = POINT.stub_source.replace("...", "return w + missing")
    rows = grading.grade(submission(tmp_path, change=rename, prox_step=STEP.solution_source, proximal_point=broken))
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
    rows = grading.grade(path, timeout=15)
    assert statuses(rows) == {STEP.id: "wrong", TRAINING.id: "wrong", POINT.id: "solved"}
    assert rows[0].hint == "Your code did not end within 15 s."
    assert "The cell of the answer stops with SyntaxError" in rows[1].hint


def test_what_a_hint_quotes_cannot_forge_lines_or_steer_a_terminal() -> None:
    row = rows.Row(
        STEP.id,
        "wrong",
        0,
        1,
        "It says no.\n02-proximal-point  solved  2 of 2\x1b[2J\r\x9b1A\u202e\ud800, “ρ − 1”",
    )
    lines = rows.report([row]).splitlines()
    assert len(lines) == 3
    assert lines[1] == "    It says no. 02-proximal-point solved 2 of 2�[2J �1A��, “ρ − 1”"


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
    monkeypatch.setattr(limits, "GRACE", 1.0)
    deaf = TRAINING.stub_source.replace("    ...", body)
    path = submission(
        tmp_path, prox_step=STEP.solution_source, local_training=deaf, proximal_point=POINT.solution_source
    )
    rows = grading.grade(path, timeout=10)
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "wrong", POINT.id: "solved"}
    assert rows[1].hint == hint
    assert rows[1].points == 0


def test_a_cell_that_ends_the_kernel_is_named_and_left_out(tmp_path: Path, capsys) -> None:
    """Once in a cell of no exercise, once in the cell of an answer, before its check."""

    def disturb(made: list) -> None:
        made.insert(1, new_code_cell("import os\nos._exit(9)", id="an-exit"))

    at_once = f"{TRAINING.solution_source}\nimport os\nos._exit(9)"
    path = submission(tmp_path, change=disturb, prox_step=STEP.solution_source, local_training=at_once)
    assert main(["grade", str(path), "--timeout", "60"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("02-")] == ["solved", "wrong", "open"]
    assert "The cell of the answer ended the kernel: Python itself stopped." in out
    assert "Remark: cell 2 (`import os`) ended the kernel: Python itself stopped; graded without it." in out


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
        grading.grade(submission(tmp_path), timeout)


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
