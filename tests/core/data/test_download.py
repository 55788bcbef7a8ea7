"""Downloads, against a web server on this machine."""

import gzip
import os
import socket
from collections.abc import Callable

import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.store import FetchFailed, download
from tests.core.data.small_sets import Mirror, members_of

DATA = os.urandom(300_000)
(MEMBER,) = members_of({"a.bin": DATA})
StartMirror = Callable[[dict[str, bytes]], Mirror]


def get(*urls: str) -> bytes:
    return download(urls, MEMBER, progress=False)


@pytest.fixture
def closed() -> str:
    """The address of a port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/"


def test_the_next_mirror_is_asked_until_one_delivers(mirror: StartMirror, closed: str) -> None:
    bad, empty, good = mirror({"a.bin": b"<html>please log in</html>"}), mirror({}), mirror({"a.bin": DATA})
    assert get(bad.url, closed, empty.url, good.url) == DATA
    assert len(bad.requests) == len(empty.requests) == len(good.requests) == 1
    packed = mirror({"a.bin.gz": gzip.compress(DATA)})
    assert download([packed.url], MEMBER, ".gz", progress=False) == DATA


def test_the_error_names_the_failure_of_each_mirror(mirror: StartMirror, closed: str) -> None:
    wrong, cut = mirror({"a.bin": DATA[:-1] + bytes([DATA[-1] ^ 1])}), mirror({"a.bin": DATA})
    cut.cuts["a.bin"] = [1000]
    with pytest.raises(FetchFailed, match=r"a\.bin could not be downloaded") as caught:
        get(closed, mirror({}).url, wrong.url, cut.url)
    for said in (
        "Connection refused",
        "404",
        "checksum of 300000 bytes",
        "checksum of 1000 bytes",
        "into the data folder",
    ):
        assert said in str(caught.value)
    with pytest.raises(FetchFailed, match="Not a gzipped file"):
        download([mirror({"a.bin.gz": b"<html>"}).url], MEMBER, ".gz", progress=False)


def test_a_silent_server_runs_into_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(FetchFailed, match="timed out"):
        get(f"http://127.0.0.1:{silent.getsockname()[1]}/")
