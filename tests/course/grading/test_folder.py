"""A folder of submissions: one row each, apart from one another, within limits, and on with what was interrupted."""

import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell

from fedlab_course.cli import main
from fedlab_course.grading import Limits, grade_folder, rows
from fedlab_course.grading import table as tables
from tests.course.grading.sheets import CHAPTER, POINT, SOLVED, STEP, cell, submission


def read(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


PEEK = """\
from pathlib import Path
import numpy
assert not hasattr(numpy, "mine")
files = sorted(map(str, Path().iterdir()))"""
SPOIL = """\
import fedlab_core, fedlab_course, pathlib, subprocess, sys
for package in (fedlab_core, fedlab_course):
    for file in pathlib.Path(package.__file__).parent.rglob("*.py"):
        file.write_text("raise SystemExit('spoiled')")
pathlib.Path("numpy.py").write_text("mine = 1")
child = "import os, time\\nos.setsid()\\nif os.fork(): os._exit(0)\\nos.setsid()\\ntime.sleep(600)"
subprocess.Popen([sys.executable, "-c", child, "fedlab-test-child"], start_new_session=True)"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five students: solved, with files of their own, spoiling, with formulas for names, and with no notebook."""
    folder = tmp_path_factory.mktemp("class")
    below = folder / "submitted"
    submission(below / "ada" / "02", **SOLVED)

    def peek(made: list) -> None:
        made.insert(1, new_code_cell(f"{PEEK}\nassert files == ['data.csv', 'mine.py'], files\nimport mine", id="p"))
        cell(made, POINT, "answer").source = f"assert mine.VALUE == 3\n{POINT.solution_source}"

    submission(below / "ben" / "02", change=peek)
    (below / "ben" / "02" / "data.csv").write_text("1")
    (below / "ben" / "02" / "mine.py").write_text("VALUE = 3")
    submission(below / "cyd" / "02", change=lambda made: made.insert(1, new_code_cell(SPOIL, id="s")), **SOLVED)
    submission(below / "=cmd()" / "02", prox_step=STEP.solution_source)
    (below / "eve" / "02").mkdir(parents=True)
    (below / "eve" / "02" / "02_fedprox.ipynb").write_text('{"cells": 3}')
    (below / "eve" / "02" / ".ipynb_checkpoints").mkdir()
    (below / "eve" / "02" / ".ipynb_checkpoints" / "02_fedprox-checkpoint.ipynb").write_text("no notebook")
    return folder


def living() -> set[psutil.Process]:
    return {child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE}


@pytest.fixture(scope="module")
def table(graded: Path) -> dict[str, dict[str, str]]:
    before = living()
    assert main(["grade", str(graded / "submitted"), "--csv", str(graded / "t.csv"), "--jobs", "2"]) == 1
    assert living() <= before
    return read(graded / "t.csv")


def test_each_submission_has_a_row_with_its_points(table: dict) -> None:
    every = {name: [row[e.id] for e in CHAPTER] + [row["total"], row["of"]] for name, row in table.items()}
    file = "02/02_fedprox.ipynb"
    assert every == {
        f"ada/{file}": ["1", "2", "2", "5", "5"],
        f"ben/{file}": ["0", "0", "2", "2", "5"],
        f"cyd/{file}": ["1", "2", "2", "5", "5"],
        f"'=cmd()/{file}": ["1", "0", "0", "1", "5"],
        f"eve/{file}": ["", "", "", "", ""],
    }
    assert [row["student"] for row in table.values()] == ["'=cmd()", "ada", "ben", "cyd", "eve"]
    assert "is not a Jupyter notebook" in table[f"eve/{file}"]["remarks"]


def test_no_child_of_a_submission_stays_behind(table: dict) -> None:
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in running if "fedlab-test-child" in line]


def test_what_is_graded_is_not_graded_again_unless_it_changed(
    graded: Path, table: dict, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def grade_sheet(found, *arguments) -> list[rows.Row]:
        done.append(found.answers[STEP.id].source)
        return [rows.Row(e.id, "open", 0, e.points, "") for e in CHAPTER]

    monkeypatch.setattr("fedlab_course.grading.one.grade_sheet", grade_sheet)
    again = submission(graded / "submitted" / "ada" / "02", prox_step=STEP.with_mistake(STEP.mistakes[0]))
    submission(graded / "submitted" / "fay" / "03", name="other")
    grade_folder(graded / "submitted", graded / "t.csv")
    assert len(done) == 2
    assert "3 of 6 are graded already" in capsys.readouterr().out
    after = read(graded / "t.csv")
    assert set(after) == {*table, "fay/03/other.ipynb"}
    assert after[f"ada/02/{again.name}"]["total"] == "0"
    assert after[f"cyd/02/{again.name}"] == table[f"cyd/02/{again.name}"]
    assert [path.name for path in graded.iterdir() if path.name.startswith(".")] == []


def test_a_flat_folder_gives_nobody_another_s_files(tmp_path: Path) -> None:
    from fedlab_course.grading.one import beside

    first = submission(tmp_path, name="ada")
    assert beside(first) == tmp_path
    submission(tmp_path, name="ben")
    assert beside(first) is None


def test_an_interrupted_run_ends_its_kernels_and_keeps_what_is_graded(tmp_path: Path) -> None:
    submission(tmp_path / "in" / "a", **SOLVED)
    wait = "import time\ntime.sleep(300)"
    submission(tmp_path / "in" / "b", change=lambda made: made.insert(1, new_code_cell(wait, id="w")))
    command = [sys.executable, "-m", "fedlab_course", "grade", str(tmp_path / "in"), "--csv", str(tmp_path / "t.csv")]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen([*command, "--jobs", "1"], env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not (tmp_path / "t.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(1)
    below = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    error = process.communicate(timeout=100)[1]
    assert process.returncode == 143
    assert "what is graded stands in the table" in error
    assert "Traceback" not in error
    psutil.wait_procs(below, timeout=20)
    assert not [one for one in below if one.is_running()]
    assert {name: row["total"] for name, row in read(tmp_path / "t.csv").items()} == {"a/02_fedprox.ipynb": "5"}


GREEDY = {
    "memory": ("kept = []\nwhile True:\n    kept.append(bytearray(b'x' * 2**26))", "MemoryError|memory"),
    "processes": (
        "import subprocess, time\nkept = [subprocess.Popen(['sleep', '60']) for _ in range(40)]\ntime.sleep(60)",
        "started more than 20 processes",
    ),
    "a file": ("open('large', 'wb').write(b'x' * 2**24)", "File too large"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are those of Linux here")
def test_limits_end_what_passes_them(house: Path) -> None:
    from fedlab_course.grading.kernel import Ended, Kernel
    from fedlab_course.grading.room import Room

    bounds = Limits(cell=60, memory=1024, processes=20, file=8)
    for source, said in GREEDY.values():
        place = Room(house, None)
        kernel = Kernel(place, bounds)
        try:
            kernel.begin()
            try:
                found = kernel.run(source)
            except Ended as end:
                found = str(end)
            assert re.search(said, found), found
        finally:
            kernel.kill()
            place.leave()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "=cmd|' /C calc'!A0"])
def test_nothing_in_the_table_is_a_formula(text: str) -> None:
    assert tables.safe(text) == f"'{text}"
    assert tables.safe("plain =1") == "plain =1"
    assert tables.safe("\t=1\n") == "'=1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "{folder}"], "is a folder; name one notebook, or a table to write with --csv"),
        (["grade", "{folder}", "--csv", "{folder}/t.csv"], "no notebooks (*.ipynb) in it or below"),
        (["grade", "{file}", "--csv", "{folder}/t.csv"], "is for a folder of notebooks"),
        (["grade", "{file}", "--jobs", "2"], "is for a folder of notebooks"),
        (["grade", "{folder}", "--csv", "{folder}/no/t.csv"], "there is no folder"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tmp_path: Path, arguments: list[str], said: str, capsys) -> None:
    names = {"folder": tmp_path, "file": tmp_path / "a.txt"}
    names["file"].write_text("kept")
    assert main([part.format(**names) for part in arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_another_table_is_not_overwritten(tmp_path: Path, capsys) -> None:
    submission(tmp_path)
    (tmp_path / "marks.csv").write_text("name,mark\nada,1\n")
    assert main(["grade", str(tmp_path), "--csv", str(tmp_path / "marks.csv")]) == 2
    assert "is another table" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "marks.csv").read_text() == "name,mark\nada,1\n"


def test_the_help_says_that_this_is_no_sandbox(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    assert "this is no sandbox" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(os.name != "posix", reason="users are those of POSIX")
def test_only_root_can_run_kernels_as_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path = submission(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert main(["grade", str(path), "--user", "root"]) == 2
    assert "only root can run kernels as another user" in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert main(["grade", str(path), "--user", "nobody-of-this-name"]) == 2
    assert "there is no such user" in " ".join(capsys.readouterr().err.split())


def somebody() -> int | None:
    """Another user who may run this interpreter; None if there is none, or if we may not become one."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    try:
        found = subprocess.run([sys.executable, "-c", "import numpy"], user=65534, group=65534, env={}, check=False)
    except OSError:
        return None
    return None if found.returncode else 65534


def test_another_user_sees_neither_packages_nor_submissions(tmp_path: Path, house: Path) -> None:
    from fedlab_course.grading.kernel import Kernel
    from fedlab_course.grading.room import Room

    if (user := somebody()) is None:
        pytest.skip("no other user may run this interpreter, or we are not root")
    secret = tmp_path / "another.ipynb"
    secret.write_text("{}")
    secret.chmod(0o600)
    place = Room(house, None, user)
    kernel = Kernel(place, Limits(user=user))
    try:
        kernel.begin()
        assert kernel.run(f"import os\nassert os.getuid() == os.getgid() == {user}\nopen('mine', 'w').close()") == ""
        assert kernel.run(f"open({str(secret)!r})").startswith("PermissionError")
        assert kernel.run(f"os.listdir({str(house)!r})").startswith("PermissionError")
    finally:
        kernel.kill()
        place.leave()
    assert not place.path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends with its parent")
def test_a_kernel_ends_with_its_keeper_even_if_it_kills_it(house: Path) -> None:
    from fedlab_course.grading.kernel import Ended, Kernel
    from fedlab_course.grading.room import Room

    place = Room(house, None)
    kernel = Kernel(place, Limits())
    try:
        kernel.begin()
        [kept] = psutil.Process(kernel._process.pid).children()
        with pytest.raises(Ended, match="ended the kernel"):
            kernel.run("import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)")
        psutil.wait_procs([kept], timeout=20)
        assert not kept.is_running() or kept.status() == psutil.STATUS_ZOMBIE
    finally:
        kernel.kill()
        place.leave()


def test_a_kernel_that_does_not_start_costs_only_its_own_submission(tmp_path: Path) -> None:
    submission(tmp_path / "in" / "a")
    (tmp_path / "in" / "a" / "ipykernel_launcher.py").write_text("raise SystemExit(3)")
    submission(tmp_path / "in" / "b", **SOLVED)
    assert grade_folder(tmp_path / "in", tmp_path / "t.csv") == [
        "a/02_fedprox.ipynb: no kernel starts: its process ends at once"
    ]
    assert {name: row["total"] for name, row in read(tmp_path / "t.csv").items()} == {
        "a/02_fedprox.ipynb": "",
        "b/02_fedprox.ipynb": "5",
    }
