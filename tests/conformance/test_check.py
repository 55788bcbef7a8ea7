"""The check and its command: right implementations pass, and a wrong one gets a clear answer."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import fedconform
import fedlab_core as fl
from fedconform import Task, check
from fedconform.command import main
from fedconform.declared import SHIPPED, load
from fedconform.entries import ENTRIES
from fedlab_core.cli import main as library

TEXTBOOK = SHIPPED / "textbook.py"
PLAIN = "the plain mean is taken where n_k weights are due"


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_every_algorithm_of_this_library_passes(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDLAB_ENGINE", engine)
    report = fl.conformance.check(load("fedlab_core"))
    assert report.passed and not report.mistakes, str(report)
    assert {row.algorithm for row in report.rows} == {str(entry) for entry in ENTRIES}
    absent = {(row.algorithm, row.property) for row in report.rows if row.passed is None}
    assert len(absent) == 2
    assert {name for _, name in absent} == {"batch normalisation", "all"}
    assert all(algorithm.startswith(("FedAvg()", "FedAdagrad")) for algorithm, _ in absent)


def test_the_library_forwards_to_the_suite() -> None:
    assert fl.conformance.__all__ == ["Adapter", "Report", "Row", "Task", "check"]
    for name in fl.conformance.__all__:
        assert getattr(fl.conformance, name) is getattr(fedconform, name)


def test_what_is_not_offered_fails_or_is_unknown_is_said() -> None:
    def run(task: Task) -> list[np.ndarray]:
        if task.algorithm != "FedAvg" or task.kind == "linear":
            raise NotImplementedError("only FedAvg")
        if task.local_momentum:
            raise ZeroDivisionError("no momentum")
        return [np.full_like(task.start, 0.1) for _ in task.cohorts]

    report = check(run, ["FedAvg", "FedDyn"])
    text = str(report)
    assert not report.passed and report.mistakes == {"FedAvg()": ()}
    assert (
        "No known mistake" in text
        and "ZeroDivisionError: no momentum" in text
        and "only FedAvg" in text
    )
    assert " 15 failed, 10 not offered" in text and "\n0 passed" in text
    absent = [row for row in report.rows if row.passed is None]
    assert all(row.expected is None and row.got is None for row in absent)
    nothing = check(lambda task: 1 / 0 if task.algorithm == "MAS" else [], ["MAS"])
    assert not nothing.passed and "division by zero" in str(nothing)
    with pytest.raises(ValueError, match=r"only='FedSGD': must be one of"):
        check(run, ["FedSGD"])


@pytest.mark.parametrize("name", ["textbook", "textbook_numpy"])
def test_the_textbook_adapters_are_right_where_they_say_so(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert library(["conform", name]) == 0
    out = capsys.readouterr().out
    assert "11 passed, 0 failed" in out and "FAIL" not in out
    assert len((SHIPPED / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 32
    assert main([name, "--only", "FedAvg"]) == 0
    assert main([name, "--only", "FedDyn"]) == 1  # nothing was checked


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """The textbook with the plain mean."""
    source = TEXTBOOK.read_text(encoding="utf-8")
    path = tmp_path / "wrong.py"
    path.write_text(source.replace("n / sum(sizes)", "1 / len(sizes)"), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != source
    return path


def test_the_command_fails_for_a_wrong_implementation_and_writes_files(
    tmp_path: Path, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {kind: tmp_path / f"rows.{kind}" for kind in ("out", "json", "junit")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]
    assert main([str(wrong), "--only", "FedAvg", *options]) == 1
    assert PLAIN in capsys.readouterr().out
    table = pd.read_csv(files["out"]).query("passed == 'FAIL'")
    assert set(table["mistake"]) == {PLAIN}
    content = json.loads(files["json"].read_text(encoding="utf-8"))
    assert content["passed"] is False and content["mistakes"] == {"FedAvg()": [[PLAIN]]}
    assert content["counts"]["FAIL"] == len(table)
    assert [row["passed"] for row in content["rows"]].count("FAIL") == len(table)
    suites = list(ElementTree.parse(files["junit"]).getroot())
    assert [suite.get("name") for suite in suites][:1] == ["FedAvg()"]
    failures = suites[0].findall("testcase/failure")
    assert len(failures) == int(suites[0].get("failures", 0)) == len(table)
    assert {failure.text for failure in failures} == {PLAIN}
    skipped = [case for suite in suites for case in suite.findall("testcase/skipped")]
    assert len(skipped) == content["counts"]["–"]


def test_a_table_of_pandas_has_the_rows() -> None:
    report = check(load("textbook_numpy"), ["FedAvg"])
    frame = report.frame()
    assert frame["passed"].tolist() == [row.mark() for row in report.rows]


def test_bad_arguments_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    (tmp_path / "lost.py").write_text("import no_such_module\n", encoding="utf-8")
    for command in (main, lambda words: library(["conform", *words])):
        assert command([str(tmp_path / "empty.py")]) == 2
        assert command(["nobody"]) == 2
        assert command([str(tmp_path / "ends.py")]) == 2
        assert command(["textbook_numpy", "--limit", "0"]) == 2
        assert command(["textbook_numpy", "--only", "FedSGD"]) == 2
    assert main([str(tmp_path / "lost.py")]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "has no function run(task)" in shown and "nobody: is neither a file nor" in shown
    assert "ended the program with status 0" in shown and "--limit=0: must be positive" in shown
    assert "only='FedSGD': must be one of" in shown and "no_such_module" in shown


def test_what_an_adapter_changed_and_why_it_shuffles_is_printed(tmp_path: Path) -> None:
    source = (SHIPPED / "textbook_numpy.py").read_text(encoding="utf-8")
    path = tmp_path / "declares.py"
    lines = 'SHUFFLES = "the loader draws the order"\nCHANGES = {"bias": "off by default"}\n'
    path.write_text(source + lines, encoding="utf-8")
    report = check(load(str(path)), ["FedAvg"])
    notes = {row.property: row.note for row in report.rows if row.passed is None}
    assert notes["batches in order"] == "the loader draws the order"
    assert report.passed and "bias: off by default" in str(report)
    with pytest.raises(ValueError, match="CHANGES=3: must be a dictionary"):
        path.write_text(source + "CHANGES = 3\n", encoding="utf-8")
        check(load(str(path)))


def test_a_shuffling_loader_is_caught_and_told_what_to_declare() -> None:
    def run(task: Task) -> list[np.ndarray]:
        orders = [np.random.default_rng(k).permutation(n) for k, n in enumerate(task.sizes)]
        task.__dict__["x"] = tuple(x[rows] for x, rows in zip(task.x, orders, strict=True))
        task.__dict__["y"] = tuple(y[rows] for y, rows in zip(task.y, orders, strict=True))
        return load("textbook_numpy")(task)

    report = check(run, ["FedAvg"])
    failed = {row.property: row.note for row in report.rows if row.passed is False}
    assert set(failed) == {"batches in order", "batch normalisation"}
    assert "declare SHUFFLES" in failed["batches in order"]
    order = {row.property: row.mark() for row in report.rows}
    assert order["batches in any order"] == "pass"


def test_python_m_fedconform_is_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fedconform", "textbook_numpy", "--only", "FedAvg"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("11 passed, 0 failed")
