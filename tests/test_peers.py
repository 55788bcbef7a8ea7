"""The comparison with other simulators: order, resuming,
medians, failures. Nothing here is timed.
"""

import csv
import datetime
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.peers import environments, page, runs, table, tasks
from benchmarks.peers.adapters import networks, older_python, protocol
from benchmarks.peers.contestants import CONTESTANTS, OURS, Contestant
from benchmarks.peers.tasks import TASKS, Task

TODAY = datetime.date(2026, 1, 2)
SMALL = Task("small", "digits", [["flatten"], ["linear", 64, 10]], 4, 6, 2, 3, 4, 0.1, 2)
MINE = Contestant(OURS, "ours", None)
FAST = Contestant("fast", "plain", "plain")
SLOW = Contestant("slow", "fluke", "fluke")


def report(
    seconds: list[float], accuracy: float = 0.9, samples: int | None = None
) -> protocol.Report:
    """A report of a peer that did the small task as it is."""
    rounds = len(seconds) + 1
    return protocol.Report(
        seconds, samples or rounds * SMALL.samples_per_round, accuracy, {"numpy": "2"}
    )


class Peers:
    """Stands in for the adapters: each call takes the next answer of the contestant."""

    def __init__(self, **answers: list[protocol.Report | BaseException]) -> None:
        self.answers = answers
        self.calls: list[str] = []

    def __call__(self, task: Task, contestant: Contestant) -> protocol.Report:
        self.calls.append(contestant.name)
        answer = self.answers[contestant.name].pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def rows_of(
    outcomes: dict[runs.Key, runs.Outcome], *contestants: Contestant
) -> dict[str, table.Row]:
    found = table.rows([SMALL], contestants, outcomes.values(), "a processor, 2 cores", "a command")
    return {row.peer: row for row in found}


def test_every_repetition_has_every_peer_once_and_another_one_begins_each_time() -> None:
    other = replace(SMALL, name="other")
    order = runs.plan([SMALL, other], [MINE, FAST, SLOW], repeats=2)
    names = [(task.name, contestant.name, repetition) for task, contestant, repetition in order]
    assert names[:3] == [("small", OURS, 0), ("small", "fast", 0), ("small", "slow", 0)]
    assert names[3:6] == [("other", OURS, 0), ("other", "fast", 0), ("other", "slow", 0)]
    assert names[6:9] == [("small", "fast", 1), ("small", "slow", 1), ("small", OURS, 1)]
    assert len(set(names)) == len(names) == 12


def test_an_interrupted_comparison_goes_on_where_it_stopped(tmp_path: Path) -> None:
    order = runs.plan([SMALL], [MINE, FAST], repeats=2)
    first = Peers(fedlab_core=[report([1.0])], fast=[KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        runs.run_all(order, first, tmp_path / "runs.jsonl", TODAY)
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"key": {"task": "small", "cont')  # the line that was being written

    second = Peers(fedlab_core=[report([3.0])], fast=[report([2.0]), report([4.0])])
    outcomes = runs.run_all(order, second, tmp_path / "runs.jsonl", TODAY)
    assert second.calls == ["fast", "fast", OURS]
    assert len(outcomes) == 4

    third = Peers()
    again = runs.run_all(order, third, tmp_path / "runs.jsonl", TODAY)
    assert third.calls == [] and again == outcomes


def test_stored_runs_of_another_task_another_adapter_or_another_version_are_not_used() -> None:
    digests = {
        runs.digest_of(SMALL, FAST),
        runs.digest_of(SMALL.with_rounds(3), FAST),
        runs.digest_of(SMALL, SLOW),
        runs.digest_of(SMALL, replace(FAST, requirements="fluke")),
        runs.digest_of(SMALL, replace(FAST, processes=2)),
    }
    assert len(digests) == 5
    assert runs.digest_of(SMALL, FAST) in digests


def test_a_failed_run_is_tried_again_and_a_peer_that_always_fails_is_a_row_with_the_reason(
    tmp_path: Path,
) -> None:
    order = runs.plan([SMALL], [MINE, FAST, SLOW], repeats=1)
    broken = runs.RunFailed("No module named 'fluke'")
    first = Peers(fedlab_core=[report([1.0])], fast=[runs.RunFailed("killed")], slow=[broken])
    runs.run_all(order, first, tmp_path / "runs.jsonl", TODAY)
    second = Peers(fast=[report([2.0])], slow=[broken])
    outcomes = runs.run_all(order, second, tmp_path / "runs.jsonl", TODAY)
    assert second.calls == ["fast", "slow"]

    found = rows_of(outcomes, MINE, FAST, SLOW)
    assert found["fast"].seconds == "2" and found["fast"].failure == ""
    assert found["slow"].failure == "No module named 'fluke'"
    assert found["slow"].seconds == found["slow"].ratio == ""


def test_a_peer_that_was_not_run_is_a_row_too() -> None:
    assert rows_of({}, MINE, FAST)["fast"].failure == "not run"


def test_medians_are_over_all_rounds_and_ratios_are_between_runs_of_one_repetition(
    tmp_path: Path,
) -> None:
    """The machine is ten times as slow in the second repetition: the seconds tell it, the ratio
    does not.
    """
    mine = [report([1.0, 1.0, 7.0]), report([10.0, 10.0, 10.0]), report([1.0, 1.0, 1.0])]
    fast = [report([2.0, 2.0, 2.0]), report([20.0, 20.0, 20.0]), report([3.0, 3.0, 3.0])]
    peers = Peers(fedlab_core=mine, fast=fast)
    outcomes = runs.run_all(
        runs.plan([SMALL], [MINE, FAST], 3), peers, tmp_path / "runs.jsonl", TODAY
    )
    row = rows_of(outcomes, MINE, FAST)["fast"]
    assert (row.seconds, row.seconds_min, row.seconds_max) == ("3", "2", "20")
    assert row.ratio == "2"
    assert rows_of(outcomes, MINE, FAST)[OURS].ratio == "1"
    assert (row.repetitions, row.rounds, row.date) == (3, 3, "2026-01-02")


def test_the_check_names_what_a_peer_did_differently() -> None:
    assert SMALL.samples_per_round == 36
    assert table.check(SMALL, 36, 0.9, 0.88) == "same work"
    assert table.check(SMALL, 40, 0.9, 0.88) == "40 samples a round, not 36"
    assert table.check(SMALL, 36, 0.7, 0.9) == "accuracy 0.700, ours 0.900"
    assert table.check(SMALL, 36, 0.9, None) == "accuracy not compared"


def test_the_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    outcomes = runs.run_all(
        runs.plan([SMALL], [MINE], 1),
        Peers(fedlab_core=[report([1.5])]),
        tmp_path / "runs.jsonl",
        TODAY,
    )
    written = list(rows_of(outcomes, MINE).values())
    table.write(tmp_path / "peers.csv", written)
    with (tmp_path / "peers.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["peer"] for row in read] == [OURS]
    assert read[0]["seconds"] == "1.5" and read[0]["check"] == "same work"


def test_what_an_adapter_prints_before_its_report_is_left_out_and_its_failure_is_told() -> None:
    told = f'print("a bar", end=""); print({json_line()!r})'
    output = runs.output_of([sys.executable, "-c", told], {})
    assert runs.report_in(output).seconds == [0.5]
    with pytest.raises(runs.RunFailed, match="printed no report"):
        runs.report_in("nothing\n")
    with pytest.raises(runs.RunFailed, match=r"^ValueError: no such peer$"):
        runs.output_of([sys.executable, "-c", "raise ValueError('no such peer')"], {})


def json_line() -> str:
    return '{"seconds": [0.5], "samples": 72, "accuracy": 0.5, "versions": {}}'


def test_a_run_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(runs.RunFailed, match="stopped after 1 seconds"):
        runs.output_of([sys.executable, "-c", "import time; time.sleep(600)"], {}, longest=1)


def test_every_contestant_has_an_adapter_and_exact_versions() -> None:
    for contestant in CONTESTANTS.values():
        assert (runs.ADAPTERS / f"{contestant.adapter}.py").exists()
        if contestant.requirements:
            lines = environments.pinned(
                environments.REQUIREMENTS / f"{contestant.requirements}.txt"
            )
            assert lines and all(line.count("==") == 1 for line in lines)
    assert next(iter(CONTESTANTS)) == OURS


def test_an_environment_counts_as_made_only_for_the_same_requirements(tmp_path: Path) -> None:
    requirements = tmp_path / "peer.txt"
    requirements.write_text("numpy==2.3.5\n")
    assert not environments.is_ready(tmp_path, requirements)
    (tmp_path / environments.STAMP).write_text(environments.digest(requirements))
    assert environments.is_ready(tmp_path, requirements)
    requirements.write_text("numpy==2.3.6\n")
    assert not environments.is_ready(tmp_path, requirements)


def test_pip_takes_pytorch_from_its_own_index_only_if_a_build_is_named(
    tmp_path: Path, monkeypatch
) -> None:
    requirements = tmp_path / "peer.txt"
    requirements.write_text("# a peer\nnumpy==2.3.5\ntorch==2.13.0\n")
    monkeypatch.delenv("TORCH", raising=False)
    monkeypatch.setenv("PIP_ARGS", "--no-cache-dir")
    torch_first, rest = environments.pip_commands(Path("python"), requirements)
    assert torch_first[-1] == "torch==2.13.0" and "--index-url" not in torch_first
    assert "--no-deps" in rest and "--no-cache-dir" in rest
    monkeypatch.setenv("TORCH", "cpu")
    assert (
        environments.PYTORCH_INDEX + "cpu"
        in environments.pip_commands(Path("python"), requirements)[0]
    )


def test_a_task_is_read_as_it_was_written(tmp_path: Path) -> None:
    work = tasks.work_of(SMALL)
    protocol.save(tmp_path / "small.npz", work)
    read = protocol.load(tmp_path / "small.npz")
    assert (read.epochs, read.batch_size, read.lr, read.layers) == (3, 4, 0.1, SMALL.layers)
    assert np.array_equal(read.x, work.x) and np.array_equal(read.cohorts, work.cohorts)
    assert read.parts.shape == (4, 6) and len(np.unique(read.parts)) == 24
    torch.testing.assert_close(
        networks.network(read).state_dict(), networks.network(work).state_dict()
    )


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_networks_of_the_tasks_fit_their_images(task: Task) -> None:
    shape = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10": (3, 32, 32)}[task.dataset]
    assert networks.module_of(task.layers)(torch.zeros(2, *shape)).shape == (2, tasks.CLASSES)
    assert 0 < task.rounds < tasks.MOST_ROUNDS


def test_this_library_and_the_plain_loop_do_the_same_work() -> None:
    """With full batches, the order of the samples does not
    matter: both must give the same network.
    """
    from benchmarks.peers.adapters import ours, plain

    work = replace(tasks.work_of(SMALL), batch_size=6)
    before = networks.Counted.total.value
    reports = [
        adapter.run(work, protocol.Options(rounds=2, processes=1)) for adapter in (ours, plain)
    ]
    assert reports[0].accuracy == pytest.approx(reports[1].accuracy, abs=1e-9)
    assert reports[0].samples == reports[1].samples - before == 3 * SMALL.samples_per_round
    assert [len(report.seconds) for report in reports] == [2, 2]


def test_type_parameters_of_functions_are_left_out() -> None:
    source = "def first[T](value: T) -> T:\n    return value[0](value)\n"
    assert older_python.without_type_parameters(source) == source.replace("first[T](", "first(")


def test_the_page_stars_other_work_and_names_every_reason() -> None:
    common = {
        "task": "small",
        "seconds": "0.1234",
        "ratio": "2.345",
        "check": "same work",
        "failure": "",
    }
    about = {"date": "2026-01-02", "machine": "a processor", "command": "a command"}
    rows = [
        {**common, **about, "peer": "good"},
        {**common, **about, "peer": "other", "check": "40 samples a round, not 36"},
        {
            **common,
            **about,
            "peer": "broken",
            "seconds": "",
            "ratio": "",
            "check": "",
            "failure": "killed",
        },
    ]
    text = page.page_with(f"before {page.BEGIN} old {page.END} after", rows)
    assert "| good | 0.12 s (2.3×) |" in text and "| other | 0.12 s (2.3×) * |" in text
    assert "| broken | failed |" in text and "\\* broken, small: killed." in text
    assert "40 samples a round, not 36" in text
    assert text.startswith("before ") and text.endswith(" after") and "old" not in text
    assert page.page_with(text, rows) == text


def test_the_page_has_the_measured_table() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    rows = page.read(page.TABLE)
    assert page.page_with(text, rows) == text
    assert {(row["task"], row["peer"]) for row in rows} == {
        (a, b) for a in TASKS for b in CONTESTANTS
    }
