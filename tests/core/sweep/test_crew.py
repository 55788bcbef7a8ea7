"""Sweeps on real schedulers and workers: whatever is killed or cut, the tables are those of one machine."""

import json
import socket
import time
from pathlib import Path

import pytest

from tests.core.sweep.clusters import Sweep, cluster, until, wire

pytest.importorskip("distributed", reason="Dask is not installed: pip install '.[cluster]'")
pytestmark = pytest.mark.slow

ROUNDS, HALF = 8, 2
CONFIG = f"""
seed = [0, 1]
modules = ["tests.core.sweep.slow"]
model = "softmax_regression"
partition = {{law = "iid", num_clients = 10}}
algorithm = {{name = "slow", seconds = [0.5, 0.51]}}

[settings]
rounds = {ROUNDS}
clients_per_round = 2
local_epochs = 1
"""
TABLES = ("table.csv", "curves.csv")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "grid.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def local(config: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of a sweep on a local cluster of two processes."""
    out = tmp_path_factory.mktemp("local")
    Sweep(config, out, "--workers", "2").finished()
    return tables(out)


def tables(out: Path) -> dict[str, bytes]:
    return {name: (out / "grid" / name).read_bytes() for name in TABLES}


def outcomes(out: Path) -> dict[str, dict]:
    """Digest → outcome of the runs that have ended."""
    return {path.parent.name: json.loads(path.read_text()) for path in out.glob("runs/*/outcome.json")}


def half_way(sweep: Sweep) -> dict[str, int]:
    """Wait until two runs have been heard of in the middle of their rounds; which, and in what round they are.

    Nothing if the sweep has come to its end before that.
    """
    ended = sweep.out / "runs"

    def going_on() -> dict[str, int]:
        assert sweep.process.poll() in (None, 0), sweep.said.read_text()
        rounds = sweep.running()
        return {digest: round for digest, round in rounds.items() if not (ended / digest / "outcome.json").exists()}

    until(lambda: sweep.process.poll() == 0 or [round >= HALF for round in going_on().values()] == [True, True])
    return going_on() if sweep.process.poll() is None else {}


def test_a_worker_without_a_shared_disk_is_killed(config: Path, local: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with cluster(tmp_path / "cluster", disk="own") as remote:
        sweep = Sweep(config, out, "--scheduler", remote.address)
        heard = half_way(sweep)
        remote.workers[0].kill()
        sweep.finished()
        assert not list(remote.folder.glob("scratch/**/*.npz")), "checkpoints of finished runs are removed"
    assert tables(out) == local
    resumed = {digest: found["resumed"] for digest, found in outcomes(out).items() if found["resumed"]}
    assert len(resumed) == 1, "the run of the worker that was killed, and no other, went on from a checkpoint"
    assert all(round >= heard[digest] - 1 for digest, round in resumed.items()), "at most one round was lost"


def test_the_connection_is_cut_and_then_the_client_killed(
    config: Path, local: dict[str, bytes], tmp_path: Path
) -> None:
    with cluster(tmp_path / "cluster", disk="shared") as remote, wire(remote.address) as between:
        for attempt in range(5):  # on a busy machine it may be over before it is killed
            out = tmp_path / f"out{attempt}"
            first = Sweep(config, out, "--scheduler", between.address)
            half_way(first)
            assert between.cut() > 0
            until(lambda out=out: len(outcomes(out)) >= 2)
            if heard := half_way(first):
                break
        assert heard
        first.kill()
        killed, kept = time.time(), {path.parent.name for path in out.glob("runs/*/checkpoint.npz")}
        done = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/outcome.json")}
        said = Sweep(config, out, "--scheduler", between.address).finished()
    assert f"4 runs, of which {len(done)} are done" in said
    assert all(path.stat().st_mtime_ns == before for path, before in done.items()), "what is done is not done again"
    # How many rounds that is depends on how long a checkpoint takes to write, on a busy machine several rounds.
    for digest in kept & heard.keys() - {path.parent.name for path in done}:
        found, ended = outcomes(out)[digest], (out / "runs" / digest / "outcome.json").stat().st_mtime
        # a worker that is still busy with a run when the next client asks for it is not interrupted at all
        assert found["resumed"] > 0 or ended - found["wall"] < killed, "they go on where they were"
    assert tables(out) == local
    assert not list(out.glob("runs/*/checkpoint.npz"))


def test_an_address_where_nobody_answers(config: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    sweep = Sweep(config, tmp_path, "--scheduler", address, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert sweep.process.wait(60) == 1
    said = " ".join(sweep.said.read_text().split())
    assert "no scheduler answers" in said and "Traceback" not in said
