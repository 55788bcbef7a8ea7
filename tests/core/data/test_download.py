"""Downloads, against a web server on this machine."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.data.disk import download as module
from fedlab_core.data.disk.download import FetchFailed, download
from fedlab_core.data.disk.sources import Member
from tests.core.data.small_sets import Mirror, md5, tree

DATA = os.urandom(300_000)
StartMirror = Callable[[dict[str, bytes]], Mirror]


def get(target: Path, *mirrors: Mirror | str) -> None:
    urls = [mirror if isinstance(mirror, str) else mirror.url for mirror in mirrors]
    download(urls, target, Member("a.bin", len(DATA), md5(DATA)), progress=False)


@pytest.fixture
def closed() -> str:
    """The address of a port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/"


def test_the_file_arrives_and_is_not_downloaded_again(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({"a.bin": DATA})
    get(tmp_path / "new" / "a.bin", server)
    get(tmp_path / "new" / "a.bin", server)
    assert tree(tmp_path / "new") == {"a.bin": DATA}
    assert server.requests == ["a.bin"]


def test_a_broken_connection_is_tried_again(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({"a.bin": DATA})
    server.cuts["a.bin"] = [100_000, 50_000]
    get(tmp_path / "a.bin", server)
    assert len(server.requests) == 3 and tree(tmp_path) == {"a.bin": DATA}
    (tmp_path / "a.bin").unlink()
    server.cuts["a.bin"] = [1000] * module.ATTEMPTS
    with pytest.raises(FetchFailed, match="holds only 1000"):
        get(tmp_path / "a.bin", server)
    assert tree(tmp_path) == {}


def test_a_damaged_file_is_replaced(mirror: StartMirror, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x" * len(DATA))
    get(tmp_path / "a.bin", mirror({"a.bin": DATA}))
    assert tree(tmp_path) == {"a.bin": DATA}


def test_the_next_mirror_is_asked(mirror: StartMirror, tmp_path: Path, closed: str) -> None:
    bad, empty, good = mirror({"a.bin": b"<html>please log in</html>"}), mirror({}), mirror({"a.bin": DATA})
    get(tmp_path / "a.bin", bad, closed, empty, good)
    assert tree(tmp_path) == {"a.bin": DATA}
    assert len(bad.requests) == len(empty.requests) == len(good.requests) == 1


def test_the_error_names_the_failure_of_each_mirror(mirror: StartMirror, tmp_path: Path, closed: str) -> None:
    wrong = DATA[:-1] + bytes([DATA[-1] ^ 1])
    mirrors = mirror({}), mirror({"a.bin": wrong}), mirror({"a.bin": b""}), mirror({"a.bin": DATA + b"x"})
    with pytest.raises(FetchFailed, match=r"a\.bin could not be downloaded") as caught:
        get(tmp_path / "new" / "a.bin", closed, *mirrors)
    for said in (
        "Connection refused",
        "404",
        "wrong checksum",
        "holds only 0",
        "holds more than 300000",
        "--from FOLDER",
    ):
        assert said in str(caught.value)
    assert set(tree(tmp_path)) <= {"new"}


def test_a_silent_server_runs_into_the_timeout(
    tmp_path: Path, mirror: StartMirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(FetchFailed, match="timed out"):
        get(tmp_path / "a.bin", f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert tree(tmp_path) == {}
