"""What a notebook may hold beside its answers: nothing crashes the grader, or costs the points of
other exercises.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell

from fedlab_course import grading, processes
from fedlab_course.check import cells
from fedlab_course.check.exercises import Verdict
from fedlab_course.cli import main
from fedlab_course.grading import Limits, steps, submissions
from tests.course.grading.submissions import (
    CHAPTER,
    POINT,
    SOLVED,
    STEP,
    TRAINING,
    returning,
    statuses,
    submission,
)

STRANGE = [
    "from pathlib import Path\nPath('numpy.py').write_text('mine = 1')",
    "import os, numpy\nassert not hasattr(numpy, 'mine')\nread = os.listdir() == ['numpy.py']",
    "import os\nread = read and os.read(0, 1) == b''",  # the line from the judge is elsewhere
    "name = judges = sys = tuple = list = dict = str = print = get_ipython = 'mine'",
    "exit()",
    "import sys\nsys.exit(3)",
    "assert (name, judges) == ('mine', 'mine')",
    "print('HALF A PAIR')",
    "1 / 0",
    "raise ValueError('x' * 10**7)",
    "import os\nos.write(1, b'x' * 10**6)",
    "print('x' * 10**7)",
    "%nonsense\n" * 50,
    "!echo hello\n" * 10,
    "__import__ = None",
]


@pytest.mark.slow
def test_strange_cells_cost_nothing(tmp_path: Path) -> None:
    """A solved submission, with everything that may go wrong beside the answers."""
    asking = SOLVED[POINT.id].replace("    return", "    assert read\n    return")
    path = submission(tmp_path / "a.ipynb", SOLVED | {POINT.id: asking}, STRANGE)
    given = json.loads(path.read_text())
    for each, strange in zip(
        given["cells"],
        [None, "text", {"nbgrader": 3}, {"nbgrader": {"grade_id": None}}],
        strict=False,
    ):
        each["metadata"] = strange
    path.write_text(json.dumps(given | {"metadata": None}), encoding="utf-8")
    path.write_text(path.read_text().replace("HALF A PAIR", "\\ud800"))
    before = path.read_bytes()
    rows = grading.grade(path)
    assert [(row.status, row.hint, row.remark) for row in rows] == [("solved", "", "")] * 3
    assert path.read_bytes() == before


DEAF = (
    "while True:\n        try:\n            while True: pass\n"
    "        except BaseException: continue"
)


@pytest.mark.slow
def test_code_that_never_ends_or_ends_its_process_costs_its_own_exercise(
    tmp_path: Path, capsys
) -> None:
    def change(made: list) -> None:
        known = {cell.id: cell for cell in made}
        known["ex-03-local-answer"].source += "\nimport os\nos._exit(9)"
        known["ex-03-control-answer"].source = "def control(c_k:"

    bodies = {
        "00-local": "while True: pass",
        "00-aggregate": DEAF,
        "00-fedavg": "import os; os._exit(9)",
    }
    every = {one.id: one for one in SHORT}
    answers = SOLVED | {name: returning(every[name], body) for name, body in bodies.items()}
    path = submission(tmp_path / "a.ipynb", answers, ["import os\nos._exit(9)"], SHORT, change)
    assert main(["grade", str(path), "--timeout", "20"]) == 0
    out = capsys.readouterr().out
    late = "Your code did not end within 20 s."
    gone = "ended its process"
    lines = [line for line in out.splitlines() if not line.startswith("    ")]
    assert [line.split() for line in lines] == [
        ["00-local", "wrong", "0", "of", "1"],
        ["00-aggregate", "wrong", "0", "of", "1"],
        ["00-fedavg", "wrong", "0", "of", "1"],
        ["03-local", "wrong", "0", "of", "1"],
        ["03-control", "wrong", "0", "of", "1"],
        ["03-class", "solved", "2", "of", "2"],
        ["total", "2", "of", "7", "points"],
    ]
    assert out.count(late) == 2
    assert f"The cell of the answer {gone}" in out
    assert f"Your code {gone}" in out
    assert "The cell of the answer stops with SyntaxError" in out
    assert "Remark: cell 2 (`import os`) ended its process" in out


@pytest.mark.skipif(sys.platform != "linux", reason="a copy of the process is made on Linux alone")
def test_an_answer_that_ends_its_process_costs_no_second_run_of_the_notebook(
    tmp_path: Path,
) -> None:
    """Nor do the cells below the last exercise run."""
    runs = tmp_path / "runs"
    before = [f"runs = open({str(runs)!r}, 'a')\nruns.write('x')\nruns.flush()"]
    ends = {
        STEP.id: returning(STEP, "import os; os._exit(9)"),
        POINT.id: returning(POINT, "import os; os.abort()"),
    }
    answers = SOLVED | ends | {TRAINING.id: returning(TRAINING, "raise KeyError('nowhere')")}
    below = [new_code_cell(f"open({str(runs)!r}, 'a').write('below')")]
    path = submission(tmp_path / "a.ipynb", answers, before, change=lambda made: made.extend(below))
    rows = grading.grade(path)
    assert [(row.status, row.is_crash) for row in rows] == [("wrong", True)] * 3
    assert all("ended its process" in row.hint for row in (rows[0], rows[2]))
    assert "KeyError" in rows[1].hint
    assert runs.read_text() == "x"


SHORT = [one for one in steps.registry.every() if one.chapter in ("00", "03")]
GREEDY = [
    "kept = []\nwhile True:\n    kept.append(bytearray(b'x' * 2**26))",
    (
        "import subprocess, time\nkept = [subprocess.Popen(['sleep', '60']) for _ in range(40)]\n"
        "time.sleep(60)"
    ),
    "import subprocess, sys\n"
    "code = 'kept = bytearray(2**28); kept[::4096] = b\"x\" * 2**16; import time; time.sleep(60)'\n"
    "kept = [subprocess.Popen([sys.executable, '-c', code]) for _ in range(6)]\nkept[0].wait()",
    (
        "try:\n    open('large', 'wb').write(b'x' * 2**24)\n    large = True\nexcept OSError:\n"
        "    large = False"
    ),
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are those of Linux here")
def test_limits_end_what_passes_them(tmp_path: Path) -> None:
    asking = SOLVED[POINT.id].replace("    return", "    assert large is False\n    return")
    path = submission(tmp_path / "a.ipynb", SOLVED | {POINT.id: asking}, GREEDY)
    rows = grading.grade(path, bounds=Limits(cell=50, memory=1500, processes=20, file=8))
    assert statuses(rows) == ["solved"] * 3
    assert (
        rows[0].remark.count("too much memory or too many processes") >= 2
    )  # of one process, Python may stop it in time


@pytest.mark.parametrize(("number", "ended"), [(20, 0), (21, 21)])
def test_as_many_processes_as_the_limit_are_allowed(monkeypatch, number: int, ended: int) -> None:
    judge = SimpleNamespace(poll=iter([None, 0]).__next__, wait=lambda seconds: None)
    gone: list[object] = []
    monkeypatch.setattr(processes, "below", lambda judge: [object() for _ in range(number)])
    monkeypatch.setattr(processes, "memory", lambda members: 0.0)
    monkeypatch.setattr(processes, "end", gone.extend)
    bounds = Limits(processes=20)
    assert submissions._watch(judge, set(), bounds, threading.Event(), lambda: None) == ""
    assert len(gone) == ended


@pytest.mark.slow
def test_one_deadline_holds_for_everything(tmp_path: Path) -> None:
    """Restarts and the judge count; what is judged before the deadline stays."""
    exits = ["import os, time\ntime.sleep(2)\nos._exit(9)"] * 40

    def change(made: list) -> None:
        made[-3:-3] = map(new_code_cell, exits)  # before the last exercise

    path = submission(tmp_path / "a.ipynb", SOLVED, change=change)
    rows = grading.grade(path, bounds=Limits(total=60))
    assert set(statuses(rows)) <= {"solved", "not judged"}
    assert rows[0].remark.startswith("was stopped after 60 s.")


def planned(change) -> list[steps.Step]:
    """The plan of an unsolved chapter 0 whose cells are changed."""
    made = [cell for number, one in enumerate(CHAPTER, start=1) for cell in cells.make(one, number)]
    change(made)
    path = Path(planned.folder, "a.ipynb")
    path.write_text(json.dumps({"cells": made}))
    return steps.read(path)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    planned.folder = tmp_path


def test_the_filled_one_of_two_answers_counts_wherever_the_stub_is() -> None:
    for place, id in ((0, "pasted"), (2, "ex-00-local-answer"), (9, "pasted")):

        def change(made: list, place: int = place, id: str = id) -> None:
            made[1].source = STEP.solution_source
            made.insert(place, new_code_cell(STEP.stub_source, id=id))

        found = planned(change)
        sources = [step.cell.source for step in found if step.exercise is None]
        assert [source for source in sources if f"def {STEP.name}" in source] == [
            STEP.solution_source
        ]
        [judged] = [step for step in found if step.exercise is STEP]
        assert judged.cell.source == STEP.solution_source
        assert "is answered in 2 cells" in judged.remark


def test_the_last_of_two_different_answers_counts_and_is_judged_after_it() -> None:
    def change(made: list) -> None:
        made[1].source = STEP.with_mistake(STEP.mistakes[0])
        made.append(new_code_cell(STEP.solution_source, id="pasted"))

    steps = [step.exercise or step.cell.source for step in planned(change)]
    assert steps[-2:] == [STEP.solution_source, STEP]
    assert STEP.with_mistake(STEP.mistakes[0]) not in steps


def test_a_check_cell_that_was_moved_does_not_move_the_judging_before_the_answer() -> None:
    steps = [
        step.exercise or step.cell.source
        for step in planned(lambda made: made.insert(0, made.pop(2)))
    ]
    assert steps.index(STEP) == steps.index(STEP.stub_source.strip()) + 1


def test_cells_are_known_by_nbgrader_s_grade_id_and_answers_by_their_names() -> None:
    """A tool that draws new cell ids keeps the metadata; one that loses both keeps the source."""

    def change(made: list) -> None:
        del made[1:3]
        for number, each in enumerate(made):
            each.metadata["nbgrader"] = {"grade_id": each.id}
            each["id"] = f"drawn-{number}"
        made.append(new_code_cell(SOLVED[STEP.id], id="mine"))

    judged = {step.exercise.id: step.cell.source for step in planned(change) if step.exercise}
    assert judged == {STEP.id: SOLVED[STEP.id]} | {
        one.id: one.stub_source.strip() for one in (TRAINING, POINT)
    }


def test_what_a_hint_quotes_cannot_forge_lines_or_steer_a_terminal() -> None:
    words = "It says no.\n00-fedavg  solved  2 of 2\x1b[2J\r\x9b1A\u202e\ud800, “ρ − 1”"
    lines = grading.report([Verdict(STEP.id, STEP.title, "wrong", words, 1)]).splitlines()
    assert len(lines) == 3
    assert lines[1] == "    It says no. 00-fedavg solved 2 of 2�[2J �1A��, “ρ − 1”"


BAD = ["print('hello')", '{"cells": 3}', '{"cells": [3]}', "[]", "[" * 100_000]
BAD.append('{"cells": [{"cell_type": "code", "source": "1", "id": "one"}]}')


def test_a_file_that_cannot_be_graded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    for content in BAD:
        path.write_text(content)
        with pytest.raises(
            ValueError, match=r"is not a Jupyter notebook|has no exercise of this course"
        ):
            steps.read(path)


@pytest.mark.skipif(
    not hasattr(os, "pread"), reason="progress is shown where files can be read while being written"
)
def test_the_progress_of_one_notebook_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("fedlab_course.grading.submissions.watched", lambda: True)
    grading.grade(submission(tmp_path / "submission.ipynb", {}))
    shown = capsys.readouterr().err
    assert "submission.ipynb" in shown and "0/3" in shown and "3/3" in shown


def test_without_a_judge_nothing_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert main(["grade", str(submission(tmp_path / "a.ipynb", {}))]) == 1
    captured = capsys.readouterr()
    assert "a.ipynb: its judge stopped" in " ".join(captured.err.split())
    assert captured.out == ""
