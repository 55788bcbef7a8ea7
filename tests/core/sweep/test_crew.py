"""Sweeps on real schedulers and workers: whatever is killed or cut, the tables are those of one machine."""

import json
import socket
from pathlib import Path

import pytest

from tests.core.sweep.clusters import Sweep, cluster, until, wire

pytest.importorskip("distributed", reason="Dask is not installed: pip install '.[cluster]'")
pytestmark = pytest.mark.slow

CONFIG = """
seed = [0, 1]
modules = ["tests.core.sweep.slow"]
model = "softmax_regression"
partition = {law = "iid", num_clients = 10}
algorithm = {name = "slow", seconds = [0.5, 0.51, 0.52]}

[settings]
rounds = 10
clients_per_round = 2
local_epochs = 1
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(CONFIG)
    return path


def tables(out: Path) -> list[bytes]:
    return [(out / "grid" / name).read_bytes() for name in ("table.csv", "curves.csv")]


def test_the_connection_a_worker_and_the_client_are_lost(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "remote"
    with cluster(tmp_path / "cluster") as remote, wire(remote.address) as between:
        first = Sweep(config, out, "--scheduler", between.address)
        first.half_way(2)
        assert between.cut() > 0
        until(lambda: len(list(out.glob("runs/*/outcome.json"))) >= 2)
        first.half_way(2)
        remote.workers[0].kill()
        until(lambda: len(list(out.glob("runs/*/outcome.json"))) >= 3)
        first.half_way(1)
        first.kill()
        done = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/outcome.json")}
        said = Sweep(config, out, "--scheduler", between.address).finished()
    assert f"6 runs, of which {len(done)} are done" in said
    assert all(path.stat().st_mtime_ns == before for path, before in done.items()), "what is done is not done again"
    outcomes = [json.loads(path.read_text()) for path in out.glob("runs/*/outcome.json")]
    assert any(found["resumed"] for found in outcomes), "the run of the killed worker resumed from its checkpoint"
    assert not list(out.glob("runs/*/checkpoint.npz"))
    Sweep(config, tmp_path / "local", "--workers", "2").finished()
    assert tables(out) == tables(tmp_path / "local")


def test_an_address_where_nobody_answers(config: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    sweep = Sweep(config, tmp_path, "--scheduler", address, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert sweep.process.wait(60) == 1
    said = " ".join(sweep.said.read_text().split())
    assert "no scheduler answers" in said and "Traceback" not in said
