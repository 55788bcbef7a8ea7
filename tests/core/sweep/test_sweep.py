"""The command ``sweep`` and its files, with runs done one after another in a thread of this
process.
"""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core.cli import main
from fedlab_core.sweep import crew, plan, workers
from fedlab_core.sweep.folder import Folder

GRID = """
seed = [0, 1]
model = "softmax_regression"
partition = {law = "iid", num_clients = 10}
target_accuracy = 0.5

[[algorithm]]
name = "fedavg"

[[algorithm]]
name = "fedprox"
mu = [0.1, 1e9]  # the larger diverges

[settings]
rounds = 6
clients_per_round = 2
local_epochs = 1
"""


WORKERS_OF = workers.workers_of


@pytest.fixture(autouse=True)
def computed(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """The configurations of the runs that were done."""
    found = []
    work = crew.work

    def noted(config: dict, *arguments: object) -> crew.Outcome:
        found.append(config)
        return work(config, *arguments)

    monkeypatch.setattr(crew, "work", noted)
    monkeypatch.setattr(workers, "workers_of", lambda scheduler, processes: ThreadPoolExecutor(1))
    return found


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


def sweep(config: Path, *arguments: str) -> int:
    return main(["sweep", *arguments, str(config), "--out", str(config.parent / "out")])


def read(path: Path) -> pd.DataFrame:
    """A table whose floats are exactly those in the file, with every version of pandas."""
    frame = pd.read_csv(path, dtype=str)
    for name in frame.columns.drop(["run", "algorithm", "worker"], errors="ignore"):
        frame[name] = frame[name].map(float)
    return frame


def test_a_sweep_writes_tables_of_what_the_runs_have_found(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(config) == 0
    said = capsys.readouterr().out
    assert "4 done, 2 diverged" in said and "of computation in all" in said
    out = config.parent / "out"
    table = read(out / "grid" / "table.csv")
    assert list(table.algorithm) == ["fedavg"] * 2 + ["fedprox"] * 4
    assert list(table.seed) == [0, 1] * 3
    assert "partition" not in table and "rounds" not in table, "what does not vary is no column"
    for row in table.itertuples():
        history = fl.History.load(out / "runs" / row.run / "history.npz")
        assert json.loads((out / "runs" / row.run / "config.json").read_text())["seed"] == row.seed
        assert not (out / "runs" / row.run / "checkpoint.npz").exists()
        if row.algorithm == "fedprox" and row._3 == 1e9:
            assert row.diverged_round >= 1 and np.isnan(row.final_accuracy)
            continue
        frame = history.frame
        assert np.isnan(row.diverged_round)
        assert row.final_accuracy == pytest.approx(frame.test_accuracy.iloc[-1], rel=1e-12)
        assert row.best_accuracy == pytest.approx(frame.test_accuracy.max(), rel=1e-12)
        assert row.bytes == frame.bytes_up.iloc[-1] + frame.bytes_down.iloc[-1]
        assert row.server_updates == 6
        assert row.rounds_to_target == frame["round"][frame.test_accuracy >= 0.5].min()
        curve = read(out / "grid" / "curves.csv").query("run == @row.run")
        assert curve.test_accuracy.tolist() == frame.test_accuracy.tolist()
        assert curve.round_lr.tolist() == frame.lr.tolist()
    timings = read(out / "grid" / "timings.csv")
    assert set(timings.run) == set(table.run) and (timings.seconds >= 0).all()
    assert not {"seconds", "wall"} & {*table, *read(out / "grid" / "curves.csv")}


def test_a_second_time_only_what_is_missing_is_done(config: Path, computed: list[dict]) -> None:
    sweep(config)
    out = config.parent / "out"
    first = len(computed)
    tables = {name: (out / "grid" / name).read_bytes() for name in ("table.csv", "curves.csv")}
    assert sweep(config) == 0 and len(computed) == first
    again = plan.read(config).runs[1]
    (out / "runs" / again.digest / "outcome.json").unlink()
    assert sweep(config) == 0
    assert computed[first:] == [again.config]
    assert tables == {name: (out / "grid" / name).read_bytes() for name in tables}
    config.with_name("other.toml").write_text(GRID.replace("[0, 1]", "[1, 2]"))
    sweep(config.with_name("other.toml"))
    assert [run["seed"] for run in computed[first + 1 :]] == [2, 2, 2], (
        "seed 1 is shared with the other sweep"
    )


def test_a_run_that_fails_does_not_stop_the_others_and_is_tried_again(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys, computed: list[dict]
) -> None:
    def fails(self, *arguments: object) -> None:
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patched:
        patched.setattr(fl.FedProx, "correction", fails)
        assert sweep(config) == 1
    assert "2 done, 4 failed" in capsys.readouterr().out
    assert sweep(config, "status") == 0
    said = capsys.readouterr().out
    assert said.count("RuntimeError: out of memory") == 4 and said.endswith("2 done, 4 failed\n")
    log = config.parent / "out" / "runs" / plan.read(config).runs[-1].digest / "log.txt"
    assert "in fails" in log.read_text(), "the log has the traceback"
    assert sweep(config) == 0 and len(computed) == 6 + 4


def test_a_run_goes_on_from_its_checkpoint(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    run = plan.read(config).runs[0]
    out = config.parent / "out"
    whole = crew.work(run.config, str(config.parent / "not there"), [])
    aggregate = fl.FedAvg.aggregate

    def interrupted(self, server, updates):
        if server.round == 4:
            raise KeyboardInterrupt
        return aggregate(self, server, updates)

    folder = Folder(out, plan.read(config))
    folder.prepare(run)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(fl.FedAvg, "aggregate", interrupted)
        crew.work(run.config, str(folder.of(run)), [])
    sweep(config, "--dry-run")
    assert capsys.readouterr().out.endswith("1 begun, 5 waiting\n")
    outcome = crew.work(run.config, str(folder.of(run)), [])
    assert (outcome.status, outcome.resumed, whole.resumed) == ("done", 3, 0)
    drop = ["seconds"]
    pd.testing.assert_frame_equal(
        outcome.history.frame.drop(columns=drop), whole.history.frame.drop(columns=drop)
    )
    assert (outcome.history.params == whole.history.params).all()


def test_the_history_of_another_run_is_refused(config: Path, capsys) -> None:
    sweep(config)
    folders = [config.parent / "out" / "runs" / run.digest for run in plan.read(config).runs[:2]]
    first, second = (folder.joinpath("history.npz").read_bytes() for folder in folders)
    (folders[0] / "history.npz").write_bytes(second)
    (folders[1] / "history.npz").write_bytes(first)
    assert sweep(config) == 2
    assert f"is the history of the run {folders[1].name}" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize("text", ["5", "null", '{"status": "done"}', "["])
def test_a_run_with_a_malformed_outcome_is_done_again(
    config: Path, computed: list[dict], text: str
) -> None:
    config.write_text(GRID.replace("[0, 1]", "0").replace("[0.1, 1e9]", "0.1"))
    sweep(config)
    (config.parent / "out" / "runs" / plan.read(config).runs[0].digest / "outcome.json").write_text(
        text
    )
    assert sweep(config, "status") == 0 and sweep(config) == 0
    assert computed[2:] == computed[:1]


def test_a_damaged_checkpoint_is_set_aside_with_a_word(config: Path, tmp_path: Path) -> None:
    path = tmp_path / crew.CHECKPOINT
    path.write_bytes(b"not an archive")
    outcome = crew.work(plan.read(config).runs[0].config, str(tmp_path), [])
    assert (outcome.status, outcome.resumed) == ("done", 0)
    assert (
        "checkpoint.npz is not a checkpoint" in outcome.log and "The run starts anew" in outcome.log
    )
    assert path.with_suffix(".damaged").read_bytes() == b"not an archive"


def test_two_grids_of_one_name_do_not_share_tables(config: Path, tmp_path: Path, capsys) -> None:
    sweep(config)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "grid.toml"
    other.write_text(GRID.replace("[0, 1]", "[5]"))
    before = (tmp_path / "out" / "grid" / "table.csv").read_bytes()
    assert main(["sweep", str(other), "--out", str(tmp_path / "out")]) == 2
    assert "a grid with the same file name" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "out" / "grid" / "table.csv").read_bytes() == before
    config.unlink()  # a grid that was moved
    assert main(["sweep", str(other), "--out", str(tmp_path / "out")]) == 0


def test_without_dask_the_message_says_how_to_install_it(config: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(workers, "workers_of", WORKERS_OF)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert sweep(config, "--scheduler", "tcp://127.0.0.1:1") == 1
    assert "pip install 'dask[distributed]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--workers", "0"], ["--workers", "2", "--scheduler", "tcp://x:1"]]
)
def test_bad_options(config: Path, arguments: list[str], capsys) -> None:
    assert sweep(config, *arguments) == 2
    assert "--workers" in capsys.readouterr().err
