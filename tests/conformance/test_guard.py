"""Adapters that misbehave get a row that says how, and never pass."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from fedconform import Report, Task, check
from fedconform.command import main
from fedconform.declared import load
from fedconform.guard import TimeIsUp, in_time

RIGHT = load("textbook_numpy")


def forever() -> Iterator[np.ndarray]:
    while True:
        yield np.zeros(1)


def moved(task: Task) -> list[np.ndarray]:
    """Train on other data than asked for, and on data that the caller may not have copied."""
    for x in task.x:
        x -= 3
    return RIGHT(task)


def hang(task: Task) -> list[np.ndarray]:
    while True:
        try:
            time.sleep(60)
        except Exception:
            continue


ANSWERS: dict[str, tuple[Callable[[Task], object], str]] = {
    "one round": (lambda task: [task.start], "w: one array a round is needed, 3 in all, got 1"),
    "shape": (lambda task: [task.start[None]] * 3, "w: must have the shape (1,), got (1, 1)"),
    "no w": (lambda task: {"c": [task.start] * 3}, "the adapter must return 'w', got ['c']"),
    "unknown key": (
        lambda task: {"w": RIGHT(task), "loss": [0.0] * 3},
        "unknown key 'loss': this task has 'w'",
    ),
    "not a string": (lambda task: {"w": RIGHT(task), 3: []}, "unknown key 3: this task has 'w'"),
    "control variates": (
        lambda task: {"w": RIGHT(task), "c": RIGHT(task)},
        "unknown key 'c': this task has 'w'",
    ),
    "complex": (
        lambda task: [w + 0j for w in RIGHT(task)],
        "TypeError: w: must have real numbers, got the type complex128",
    ),
    "text": (
        lambda task: [w.astype(str) for w in RIGHT(task)],
        "TypeError: w: must have real numbers, got the type <U32",
    ),
    "objects": (
        lambda task: [w.astype(object) for w in RIGHT(task)],
        "TypeError: w: must have real numbers, got the type object",
    ),
    "masked": (
        lambda task: [np.ma.masked_array(w, mask=True) for w in RIGHT(task)],
        "TypeError: w: is a masked array",
    ),
    "not a number": (lambda task: [task.start * np.nan] * 3, ""),
    "nothing": (lambda task: None, "TypeError: w: one array a round is needed, got NoneType"),
    "generator": (
        lambda task: forever(),
        "w: one array a round is needed, 3 in all, got more than 3",
    ),
    "exit": (
        lambda task: sys.exit(0),
        "SystemExit: the adapter ended the program, status 0",
    ),
    "error": (lambda task: 1 / 0, "ZeroDivisionError: division by zero"),
    "other data": (moved, ""),
    "interrupt": (lambda task: (_ for _ in ()).throw(TimeIsUp), "no answer after 60 seconds"),
}


def of_equal_clients(report: Report) -> str:
    """The note of the first row, which fails."""
    (row,) = [row for row in report.rows if str(row.algorithm) == "FedAvg()"][:1]
    assert row.mark() == "FAIL"
    return row.note


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_answer_fails_and_says_why(name: str) -> None:
    answer, note = ANSWERS[name]
    report = check(answer, ["FedAvg"])
    assert not report.passed
    passed = {row.property for row in report.rows if row.passed}
    assert passed <= {"batch normalisation"}  # which takes a shift of the data out
    assert note in of_equal_clients(report)


def test_a_generator_may_give_the_rounds() -> None:
    assert check(lambda task: iter(RIGHT(task)), ["FedAvg"]).passed


def test_an_adapter_gets_arrays_of_its_own() -> None:
    first = check(RIGHT, ["FedAvg"])
    check(moved, ["FedAvg"])
    assert check(RIGHT, ["FedAvg"]) == first


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_an_adapter_that_hangs_gets_a_row_for_each_problem(in_main_thread: bool) -> None:
    def run(task: Task) -> object:
        return RIGHT(task) if task.kind == "softmax" else hang(task)

    reports = []

    def ask() -> None:
        reports.append(check(run, ["FedAvg"], limit=0.2))

    if in_main_thread:
        ask()
    else:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    (report,) = reports
    assert of_equal_clients(report) == "no answer after 0.2 seconds"
    rows = [row for row in report.rows if row.algorithm == "FedAvg()"]
    marks = {(row.property, row.problem): row.mark() for row in rows}
    assert marks["equal clients", "quadratic"] == "FAIL"
    assert marks["changing rate", "softmax"] == "pass"
    assert not report.passed


def test_what_ends_in_time_keeps_its_result_and_its_error() -> None:
    assert in_time(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        in_time(5, lambda: {}["a"])


@pytest.mark.parametrize("lines", ["import sys\n    sys.exit(0)", "while True:\n        pass"])
def test_the_status_of_the_command_is_not_zero(tmp_path: Path, lines: str) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(f"def run(task):\n    {lines}\n", encoding="utf-8")
    assert main([str(adapter), "--only", "MAS", "--limit", "0.1"]) == 1


def test_the_program_ends_although_a_thread_of_an_adapter_does_not(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text("def run(task):\n    while True:\n        pass\n", encoding="utf-8")
    script = (
        "import threading, fedconform.command as c\n"
        f"words = [{str(adapter)!r}, '--only', 'MAS', '--limit', '0.1']\n"
        "status = []\n"
        "thread = threading.Thread(target=lambda: status.append(c.main(words)))\n"
        "thread.start(); thread.join(); raise SystemExit(status[0])\n"
    )
    result = subprocess.run([sys.executable, "-c", script], env=dict(os.environ), timeout=60)
    assert result.returncode == 1
