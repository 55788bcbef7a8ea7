"""A folder of submissions: one row each, apart from one
another, and on with what was interrupted.
"""

import csv
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from fedlab_course.check.exercises import Verdict
from fedlab_course.cli import main
from fedlab_course.grading import Limits, grade, grade_folder, submissions, workspace
from fedlab_course.grading.points_table import PointsTable, Submission, safe
from tests.course.grading.submissions import CHAPTER, SOLVED, STEP, submission

NAME = "00_start_here.ipynb"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes and pipes of Linux")
SPOIL = """\
import fedlab_core, fedlab_course, pathlib, subprocess, sys
for package in (fedlab_core, fedlab_course):
    for file in pathlib.Path(package.__file__).parent.rglob("*.py"):
        file.write_text("raise SystemExit('spoiled')")
child = "import os, time\\nos.setsid()\\nif os.fork(): os._exit(0)\\nos.setsid()\\ntime.sleep(600)"
subprocess.Popen([sys.executable, "-c", child, "fedlab-test-child"], start_new_session=True)
for _ in range(3000):
    pathlib.Path("d").mkdir(mode=0o700)
    os.chdir("d")"""
KILLS_ITS_JUDGE = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)"


def read(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def nested(folder: Path, depth: int) -> None:
    here = os.getcwd()
    try:
        folder.mkdir()
        os.chdir(folder)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class: spoiling, with a formula for a name, ending its judge, and files that are not what
    they say.
    """
    folder = tmp_path_factory.mktemp("class")
    below = folder / "submitted"
    submission(below / "cyd" / "00" / NAME, SOLVED, ["import os\n" + SPOIL])
    submission(below / "=cmd()" / "00" / NAME, {STEP.id: SOLVED[STEP.id]})
    submission(below / "dan" / NAME, SOLVED, [KILLS_ITS_JUDGE])
    submission(below / "eve" / ".ipynb_checkpoints" / NAME, {})
    (below / "eve" / NAME).write_text('{"cells": 3}')
    with (below / "gil.ipynb").open("wb") as file:
        file.truncate(20 * 2**30)
    if sys.platform == "linux":
        os.mkfifo(below / "fay.ipynb")
        nested(below / "hal", 3000)
    return folder


@pytest.fixture(scope="module")
def rows(graded: Path) -> dict[str, dict[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(graded))
        assert (
            main(
                ["grade", str(graded / "submitted"), "--csv", str(graded / "t.csv"), "--jobs", "2"]
            )
            == 1
        )
    yield read(graded / "t.csv")
    workspace.remove(graded / "submitted" / "hal")


@on_linux
def test_each_submission_has_a_row_with_its_points_or_its_problem(graded: Path, rows: dict) -> None:
    every = {
        name: [row["student"], *(row[e.id] for e in CHAPTER), row["total"], row["of"]]
        for name, row in rows.items()
    }
    deep = "/".join(["hal", *["d"] * submissions.MAX_DEPTH])
    assert every == {
        f"cyd/00/{NAME}": ["cyd", "1", "1", "1", "3", "3"],
        f"'=cmd()/00/{NAME}": ["'=cmd()", "1", "0", "0", "1", "3"],
        f"dan/{NAME}": ["dan", "0", "0", "0", "0", "3"],
        f"eve/{NAME}": ["eve", "", "", "", "", ""],
        "fay.ipynb": ["fay", "", "", "", "", ""],
        "gil.ipynb": ["gil", "", "", "", "", ""],
        deep: ["hal", "", "", "", "", ""],
    }
    said = {
        "eve/" + NAME: "is not a Jupyter notebook",
        "fay.ipynb": "not a regular file",
        deep: "too far down",
    }
    for name, words in (said | {"gil.ipynb": "is larger than 64 MB"}).items():
        assert words in rows[name]["remarks"]
    running = [process.info for process in psutil.process_iter(["cmdline", "cwd"])]
    assert not [one for one in running if "fedlab-test-child" in (one["cmdline"] or [])]
    assert not [one for one in running if (one["cwd"] or "").startswith(str(graded))]
    assert not list(graded.glob("fedlab-grading-*"))


def test_what_is_graded_is_not_graded_again_unless_it_changed(
    graded: Path, rows: dict, monkeypatch, capsys
) -> None:
    done: list[str] = []

    def judge(each: Submission, *more) -> None:
        done.append(each.name)
        each.rows = [Verdict(one.id, one.title, "open", "", one.points) for one in CHAPTER]

    monkeypatch.setattr(submissions, "_judge", judge)
    submission(graded / "submitted" / "=cmd()" / "00" / NAME, {})
    submission(graded / "submitted" / "ina" / "03" / "other.ipynb", {})
    found = submissions.submissions(graded / "submitted")
    monkeypatch.setattr(
        submissions, "submissions", lambda below: [one for one in found if not one.problem]
    )
    grade_folder(graded / "submitted", graded / "t.csv")
    assert done == [f"=cmd()/00/{NAME}", f"eve/{NAME}", "ina/03/other.ipynb"]
    assert "2 of 5 are graded already" in capsys.readouterr().out
    after = read(graded / "t.csv")
    assert set(after) == {*rows, "ina/03/other.ipynb"}
    assert after[f"'=cmd()/00/{NAME}"]["total"] == "0"
    assert after[f"cyd/00/{NAME}"] == rows[f"cyd/00/{NAME}"]


def test_the_table_has_a_row_for_each_submission_and_remarks_on_what_crashed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    crash = Verdict("03-c", "C", "wrong", "Your code did not end within 9 s.", 1, is_crash=True)
    given = [
        Submission(path, "a.ipynb", "ada", "1", rows=[Verdict("02-a", "A", "solved", "", 1)]),
        Submission(
            path, "b.ipynb", "ben", "2", rows=[Verdict("03-b", "B", "open", "", 2, "=1"), crash]
        ),
        Submission(path, "c.ipynb", "cyd", "3", problem="is not a notebook"),
    ]
    for each in given:
        PointsTable(path).add(each)  # each from the file that the one before has written
    names = ["student", "submission", "02-a", "03-b", "03-c", "total", "of", "remarks", "digest"]
    said = "03-b: =1 03-c: Your code did not end within 9 s."
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == [
            names,
            ["ada", "a.ipynb", "1", "", "", "1", "1", "", "1"],
            ["ben", "b.ipynb", "", "0", "0", "0", "3", said, "2"],
            ["cyd", "c.ipynb", "", "", "", "", "", "is not a notebook", "3"],
        ]
    changed = replace(given[0], digest="2")
    assert PointsTable(path).ungraded([*given, changed]) == [given[2], changed]


FORGED = "mal,mal/00.ipynb,1,3,3,,0\n"


# before the table exists, and at the end
@pytest.mark.parametrize("which", ["a/s.ipynb", "b/s.ipynb"])
def test_what_a_submission_writes_to_the_table_is_set_aside(
    tmp_path: Path, monkeypatch, capsys, which: str
) -> None:
    path = tmp_path / "t.csv"
    for name in ("a", "b"):
        submission(tmp_path / "in" / name / "s.ipynb", {})

    def judge(each: Submission, *more) -> None:
        each.rows = [Verdict(STEP.id, STEP.title, "solved", "", 1)]
        while each.name == "b/s.ipynb" and not path.exists():
            time.sleep(0.01)  # the row of a is written by another thread
        if each.name == which:
            with path.open("a") as file:
                file.write(FORGED)

    monkeypatch.setattr(submissions, "_judge", judge)
    assert main(["grade", str(tmp_path / "in"), "--csv", str(path), "--jobs", "1"]) == 1
    assert set(read(path)) == {"a/s.ipynb", "b/s.ipynb"}
    assert (tmp_path / "t.csv.changed").read_text().endswith(FORGED)
    error = " ".join(capsys.readouterr().err.split())
    assert "something else wrote to the table during grading" in error and "t.csv.changed" in error
    # nothing is left to grade
    assert main(["grade", str(tmp_path / "in"), "--csv", str(path)]) == 0


def test_a_class_sees_its_progress_and_a_summary(tmp_path: Path, monkeypatch, capsys) -> None:
    up = "You step uphill."
    late = "Your code did not end within 9 s."
    verdicts = {
        "ada": [("solved", "", False), ("wrong", up, False)],
        "ben": [("wrong", late, True), ("wrong", up, False)],
        "cyd": [("open", "still empty", False), ("wrong", late, True)],
        "dan": [("solved", "", False), ("solved", "", False)],
    }
    for name in verdicts:
        submission(tmp_path / "in" / name / "s.ipynb", {})
    names = ("00-a", "00-b")

    def judge(each: Submission, *more) -> None:
        each.rows = [
            Verdict(exercise, "", status, hint, 1, is_crash=is_crash)
            for exercise, (status, hint, is_crash) in zip(
                names, verdicts[each.student], strict=True
            )
        ]

    monkeypatch.setattr(submissions, "_judge", judge)
    assert grade_folder(tmp_path / "in", tmp_path / "t.csv") == []
    out = capsys.readouterr().out
    done = (
        r"\[1/4\] \w+/s.ipynb: \d of 2 points; about 0 s left\n(.*\n)*\[4/4\] \w+/s.ipynb: \d "
        r"of 2 points\n"
    )
    assert re.search(done, out)
    assert out.endswith(
        "summary, the most failed exercise first:\n"
        "  00-b  not solved in 3 of 4 (1 crashed or endless)\n"
        f"      2 of 3 wrong answers: {up}\n"
        "  00-a  not solved in 2 of 4 (1 open, 1 crashed or endless)\n"
        f"      1 of 1 wrong answer: {late}\n"
    )


@pytest.mark.parametrize(
    ("seconds", "done", "of", "words"),
    [(10, 1, 1, ""), (10, 1, 9, "; about 80 s left"), (600, 4, 16, "; about 30 min left")],
)
def test_the_time_left_is_estimated_from_what_is_done(
    seconds: float, done: int, of: int, words: str
) -> None:
    assert submissions.time_left(seconds, done, of) == words


def test_names_that_look_alike_have_rows_of_their_own_and_none_is_a_formula() -> None:
    names = [
        "a b",
        "a  b",
        "a\nb",
        "a\\nb",
        "a\x00b",
        "a\udc80b",
        "=1",
        "'=1",
        "\t=1",
        "x" * 2000,
        "x" * 2001,
    ]
    assert len({safe(name) for name in names}) == len(names)
    assert [safe(text) for text in ("=1+1", "+1", "-1", "@x")] == ["'=1+1", "'+1", "'-1", "'@x"]
    assert safe("ä plain/name =1.ipynb") == "ä plain/name =1.ipynb"


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_ends_everything_and_keeps_what_is_graded(
    tmp_path: Path, how: int
) -> None:
    submission(tmp_path / "in" / "a" / NAME, SOLVED)
    submission(tmp_path / "in" / "b" / NAME, {}, ["import time\ntime.sleep(300)"])
    command = [
        sys.executable,
        "-m",
        "fedlab_course",
        "grade",
        str(tmp_path / "in"),
        "--csv",
        str(tmp_path / "t.csv"),
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [*command, "--jobs", "1"], env=environment, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 300
    while (
        not (tmp_path / "t.csv").exists() and process.poll() is None and time.monotonic() < deadline
    ):
        time.sleep(0.2)
    time.sleep(1)
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(how)
    error = process.communicate(timeout=100)[1]
    assert "Traceback" not in error
    psutil.wait_procs(below, timeout=60)
    assert not [one for one in below if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert {name: row["total"] for name, row in read(tmp_path / "t.csv").items()} == {
        f"a/{NAME}": "3"
    }
    if how == signal.SIGTERM:
        assert process.returncode == 130
        assert "what is graded stands in the table" in error
        assert not list(tmp_path.glob("fedlab-grading-*"))


def test_what_a_killed_run_left_is_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, days in (("fedlab-grading-old", 2), ("fedlab-grading-new", 0), ("another", 2)):
        (tmp_path / name / "workspace").mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - days * 86_400,) * 2)
    with workspace.temporary_folder():
        assert not (tmp_path / "fedlab-grading-old").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"fedlab-grading-new", "another"}


def test_arguments_that_do_not_fit_are_refused(tmp_path: Path, capsys) -> None:
    file = tmp_path / "a.txt"
    table = tmp_path / "marks.csv"
    file.touch()
    submission(tmp_path / "class" / "a.ipynb", {})
    table.write_text("name,mark\nada,1\n")
    for arguments, said in [
        ([tmp_path], "is a folder. Name one notebook, or a table to write with --csv"),
        ([tmp_path / "none", "--csv", tmp_path / "t.csv"], "is for a folder of notebooks"),
        ([tmp_path / "class", "--csv", table], "is another table"),
        ([file, "--csv", tmp_path / "t.csv"], "is for a folder of notebooks"),
        ([tmp_path / "no.ipynb"], "there is no such file"),
        ([file, "--user", "nobody-of-this-name"], "--user nobody-of-this-name"),
    ]:
        assert main(["grade", *map(str, arguments)]) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert table.read_text() == "name,mark\nada,1\n"


def somebody() -> int | None:
    """Another user who may run this interpreter; None if there is none, or if we may not become
    one.
    """
    if os.name != "posix" or os.geteuid() != 0:
        return None
    try:
        found = subprocess.run(
            [sys.executable, "-c", "import numpy"], user=65534, group=65534, env={}, check=False
        )
    except OSError:
        return None
    return None if found.returncode else 65534


def test_another_user_sees_neither_packages_nor_submissions(tmp_path: Path) -> None:
    if (user := somebody()) is None:
        pytest.skip("no other user may run this interpreter, or we are not root")
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "secret").chmod(0o600)
    cell = f"""\
import os
open("mine", "w").close()
seen = [os.getuid(), os.getgid()]
looks = [
    (open, {str(tmp_path / "secret")!r}),
    (os.listdir, "../.."),
    (os.listdir, f"/proc/{{os.getppid()}}/fd"),
]
for look, path in looks:
    try:
        look(path)
        seen.append(path)
    except PermissionError:
        pass"""
    asking = SOLVED[STEP.id].replace(
        "    return", f"    assert seen == [{user}, {user}], seen\n    return"
    )
    path = submission(tmp_path / "a.ipynb", {STEP.id: asking}, [cell])
    rows = grade(path, bounds=Limits(user=user))
    assert (rows[0].status, rows[0].hint) == ("solved", "")
