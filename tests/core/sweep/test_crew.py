"""Sweeps on Dask: the tables of one machine, and a connection that is lost."""

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from fedlab_core.cli import main
from fedlab_core.sweep import crew, workers
from fedlab_core.sweep.plan import Run

CONFIG = """
seed = [0, 1]
model = "softmax_regression"
partition = {law = "iid", num_clients = 10}
settings = {rounds = 3, clients_per_round = 2, local_epochs = 1}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(CONFIG)
    return path


def test_what_a_lost_connection_cancels_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def submit(function, config, folder, modules) -> Future:
        asked.append(Path(folder).name)
        future: Future = Future()
        if asked == ["a", "b"]:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(crew.Outcome())
        return future

    @contextmanager
    def lossy(scheduler, processes) -> Iterator[ThreadPoolExecutor]:
        pool = ThreadPoolExecutor(1)
        monkeypatch.setattr(pool, "submit", submit)
        yield pool

    monkeypatch.setattr(workers, "workers_of", lossy)
    runs = [Run({}, {}, name) for name in "ab"]
    found = crew.outcomes("tcp://x:1", None, runs, tmp_path, [])
    assert sorted((run.digest, outcome.status) for run, outcome in found) == [
        ("a", "done"),
        ("b", "done"),
    ]
    assert asked[:3] in (["a", "b", "b"], ["a", "b", "a"]), "only what is missing"


@pytest.mark.slow
def test_a_cluster_gives_the_tables_of_one_machine(config: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install '.[cluster]'"
    )
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert (
            main(
                [
                    "sweep",
                    str(config),
                    "--out",
                    str(tmp_path / "a"),
                    "--scheduler",
                    cluster.scheduler_address,
                ]
            )
            == 0
        )
    assert main(["sweep", str(config), "--out", str(tmp_path / "b"), "--workers", "2"]) == 0
    for name in ("table.csv", "curves.csv"):
        assert (tmp_path / "a" / "grid" / name).read_bytes() == (
            tmp_path / "b" / "grid" / name
        ).read_bytes()


@pytest.mark.slow
def test_an_address_where_nobody_answers(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dask = pytest.importorskip("dask", reason="Dask is not installed: pip install '.[cluster]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert (
            main(["sweep", str(config), "--out", str(tmp_path / "out"), "--scheduler", address])
            == 1
        )
    assert "no scheduler answers" in " ".join(capsys.readouterr().err.split())
