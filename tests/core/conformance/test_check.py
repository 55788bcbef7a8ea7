"""The check: right implementations pass, each known mistake is named, and a bad adapter gets a clear answer."""

import functools
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core.cli import main
from fedlab_core.conformance import Task, check
from fedlab_core.conformance.command import SHIPPED
from fedlab_core.conformance.entries import ENTRIES, Entry

TEXTBOOK = SHIPPED / "textbook.py"
RESULTS = Path(__file__).parents[3] / "results"


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_every_algorithm_of_this_library_passes(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLAB_ENGINE", engine)
    report = fl.conformance.check(runpy.run_path(str(SHIPPED / "fedlab_core.py"))["run"])
    assert report.passed and {row.passed for row in report.rows} == {True} and not report.mistakes, str(report)
    assert {row.algorithm for row in report.rows} == {str(entry) for entry in ENTRIES}


def with_mistakes(entry: Entry, *mistakes: str, dtype: type = np.float32):
    """An implementation in single precision that makes these mistakes."""

    def run(task: Task) -> dict[str, list[np.ndarray]]:
        answers = entry.answer(task, mistakes)
        if "importance" in answers[0]:
            return {"importance": answers[0]["importance"]}
        return {name: [answer[name].astype(dtype) for answer in answers] for name in answers[0]}

    return run


@functools.cache
def outcome(place: int, mistake: str) -> list[tuple[str, ...]]:
    """The mistakes that the report names for an implementation of the entry with this ``mistake``."""
    entry = ENTRIES[place]
    report = check(with_mistakes(entry, mistake), [entry.algorithm])
    return list(report.mistakes.get(str(entry), ()))


@pytest.mark.parametrize("algorithm", sorted({entry.algorithm for entry in ENTRIES}))
def test_each_known_mistake_is_named_and_told_from_all_others(algorithm: str) -> None:
    places = [place for place, entry in enumerate(ENTRIES) if entry.algorithm == algorithm]
    for mistake in {mistake for place in places for mistake in ENTRIES[place].mistakes}:
        found = [outcome(place, mistake) for place in places if mistake in ENTRIES[place].mistakes]
        assert all((mistake,) in sets for sets in found if sets), mistake
        assert [(mistake,)] in found, f"{mistake}: {found}"


def test_two_mistakes_at_once_are_found_together() -> None:
    [entry] = [entry for entry in ENTRIES if str(entry) == "Scaffold(option=2, server_lr=0.5)"]
    pair = {mistake for mistake in entry.mistakes if "where N is due" in mistake or "η_g is missing" in mistake}
    report = check(with_mistakes(entry, *pair), ["Scaffold"])
    assert [set(one) for one in report.mistakes[str(entry)]] == [pair]


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
    assert "No known mistake" in text and "ZeroDivisionError: no momentum" in text and "only FedAvg" in text
    assert text.endswith("0 passed, 8 failed, 1 not offered")
    nothing = check(lambda task: 1 / 0 if task.algorithm == "MAS" else [], ["MAS"])
    assert not nothing.passed and "division by zero" in str(nothing)
    with pytest.raises(ValueError, match=r"only='FedSGD': must be one of"):
        check(run, ["FedSGD"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda task: [task.start], "w: one array a round is needed, 3 in all, got 1"),
        (lambda task: [task.start[None]] * 3, r"w: must have the shape \(1,\), got \(1, 1\)"),
        (lambda task: {"c": [task.start] * 3}, "the adapter must return 'w'"),
        (lambda task: [task.start * np.nan] * 3, ""),
    ],
)
def test_an_answer_of_the_wrong_shape_fails_and_says_why(answer, message: str) -> None:
    report = check(answer, ["FedAvg"])
    assert {row.passed for row in report.rows} == {False}
    assert message.replace("\\", "") in report.rows[0].note


def test_the_textbook_adapter_is_right_where_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", str(TEXTBOOK)]) == 0
    assert "16 not offered" in capsys.readouterr().out
    assert len(TEXTBOOK.read_text(encoding="utf-8").splitlines()) <= 30


def test_the_command_writes_a_table_and_fails_for_a_wrong_implementation(tmp_path, capsys) -> None:
    source = TEXTBOOK.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(source.replace("n / sum(sizes)", "1 / len(sizes)"), encoding="utf-8")
    assert wrong.read_text(encoding="utf-8") != source
    assert main(["conform", str(wrong), "--only", "FedAvg", "--out", str(tmp_path / "table.csv")]) == 1
    assert "the plain mean is taken where n_k weights are due" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "table.csv").query("passed == 'FAIL'")
    assert set(table["mistake"]) == {"the plain mean is taken where n_k weights are due"}


def test_bad_adapters_are_refused(tmp_path, capsys) -> None:
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    assert main(["conform", str(tmp_path / "empty.py")]) == 2
    assert main(["conform", "nobody"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "has no function run(task)" in shown and "nobody: is neither a file nor" in shown


def test_the_published_table_is_that_of_the_stored_rows() -> None:
    """✗ where a row of an algorithm fails, ✓ where all pass, – where nothing is offered; of the columns in order."""
    files = ("fedlab", "pfllib", "niid_bench", "pfl_research", "fedjax", "flower_strategies", "flower_niid_bench")
    files += ("fedlab_core",)
    page = (RESULTS / "CONFORMANCE.md").read_text(encoding="utf-8")
    names = {"FedAvg with local momentum": "FedAvg(local_momentum=0.5)", "SCAFFOLD, option 1": "Scaffold(option=1"}
    names |= {"SCAFFOLD, option 2": "Scaffold(option=2, server_lr=1.0)", "q-FedAvg": "QFedAvg", "FedAvg": "FedAvg()"}
    names |= {"FedNova": "FedNova(mu=0.0)", "FedNova with local momentum": "FedNova(mu=0.0, local"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    shown = {row[0]: [cell[0] for cell in row[1:]] for row in rows if row[-1] == "✓"}
    assert len(shown) == 13
    for place, file in enumerate(files):
        table = pd.read_csv(RESULTS / "conformance" / f"{file}.csv")
        for algorithm in shown:
            start = names.get(algorithm, algorithm) if "FedNova with μ" not in algorithm else "FedCurv"
            own = set(table[table["algorithm"].str.startswith(start)]["passed"])
            mark = "✗" if "FAIL" in own else "✓" if "pass" in own else "–"
            assert shown[algorithm][place] == mark, (file, algorithm)
