"""Downloads, against a web server on this machine."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.data.disk import download as module
from fedlab_core.data.disk.download import FetchFailed, WrongChecksum, download
from tests.core.data.small_sets import Mirror, md5, tree

DATA = os.urandom(300_000)
StartMirror = Callable[[dict[str, bytes]], Mirror]


def get(target: Path, *mirrors: Mirror | str) -> None:
    urls = [(mirror if isinstance(mirror, str) else mirror.url) + "a.bin" for mirror in mirrors]
    download(urls, target, md5(DATA), progress=False)


@pytest.fixture
def closed() -> str:
    """The address of a port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/"


def test_arrives_whole(mirror: StartMirror, tmp_path: Path) -> None:
    get(tmp_path / "new" / "a.bin", mirror({"a.bin": DATA}))
    assert tree(tmp_path / "new") == {"a.bin": DATA}


def test_resumes_within_one_call_where_the_connection_broke_off(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({"a.bin": DATA})
    server.cuts["a.bin"] = [100_000, 50_000]
    get(tmp_path / "a.bin", server)
    assert server.requests == [("a.bin", None), ("a.bin", "bytes=100000-"), ("a.bin", "bytes=150000-")]
    assert tree(tmp_path) == {"a.bin": DATA}


def test_resumes_in_a_later_call(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({"a.bin": DATA})
    server.cuts["a.bin"] = [1000] * module.ATTEMPTS
    with pytest.raises(FetchFailed, match="cut off after 3000 of 300000 bytes"):
        get(tmp_path / "a.bin", server)
    assert tree(tmp_path) == {"a.bin.part": DATA[:3000]}
    get(tmp_path / "a.bin", server)
    assert server.requests[-1] == ("a.bin", "bytes=3000-")
    assert tree(tmp_path) == {"a.bin": DATA}


def test_a_server_that_cannot_resume_starts_afresh(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({"a.bin": DATA})
    server.resumes = False
    server.cuts["a.bin"] = [1000]
    get(tmp_path / "a.bin", server)
    assert tree(tmp_path) == {"a.bin": DATA}


@pytest.mark.parametrize("left", [b"x" * 1000, DATA + b"x", b"x" * len(DATA)], ids=["other", "longer", "same length"])
def test_what_was_left_of_another_file_is_discarded(mirror: StartMirror, tmp_path: Path, left: bytes) -> None:
    (tmp_path / "a.bin.part").write_bytes(left)
    get(tmp_path / "a.bin", mirror({"a.bin": DATA}))
    assert tree(tmp_path) == {"a.bin": DATA}


def test_second_mirror_when_the_first_has_another_file(mirror: StartMirror, tmp_path: Path) -> None:
    bad, good = mirror({"a.bin": b"<html>please log in</html>"}), mirror({"a.bin": DATA})
    get(tmp_path / "a.bin", bad, good)
    assert tree(tmp_path) == {"a.bin": DATA}
    assert len(bad.requests) == 1  # asking again for a wrong file is of no use


def test_second_mirror_when_the_first_is_down_or_has_nothing(mirror: StartMirror, tmp_path: Path, closed: str) -> None:
    empty, good = mirror({}), mirror({"a.bin": DATA})
    get(tmp_path / "a.bin", closed, empty, good)
    assert tree(tmp_path) == {"a.bin": DATA}
    assert len(empty.requests) == 1


def test_wrong_checksum_everywhere_leaves_nothing(mirror: StartMirror, tmp_path: Path) -> None:
    with pytest.raises(WrongChecksum, match=r"a\.bin could not be downloaded.*wrong checksum, discarded"):
        get(tmp_path / "new" / "a.bin", mirror({"a.bin": b"one"}), mirror({"a.bin": b"two"}))
    assert tree(tmp_path) == {}


def test_server_down_leaves_nothing_and_names_each_mirror(tmp_path: Path, mirror: StartMirror, closed: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        get(tmp_path / "new" / "a.bin", closed, mirror({}))
    assert "Connection refused" in str(caught.value) and "404" in str(caught.value)
    assert tree(tmp_path) == {}


def test_an_empty_answer_leaves_nothing(mirror: StartMirror, tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="the server sent nothing"):
        get(tmp_path / "new" / "a.bin", mirror({"a.bin": b""}))
    assert tree(tmp_path) == {}


def test_a_silent_server_runs_into_the_timeout(
    tmp_path: Path, mirror: StartMirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(FetchFailed, match="timed out"):
        get(tmp_path / "new" / "a.bin", f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert tree(tmp_path) == {}


def test_what_is_already_there_is_not_downloaded(tmp_path: Path, closed: str) -> None:
    (tmp_path / "a.bin").write_bytes(DATA)
    get(tmp_path / "a.bin", closed)
    assert tree(tmp_path) == {"a.bin": DATA}


def test_an_error_of_the_disk_is_no_network_error(mirror: StartMirror, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    server = mirror({"a.bin": DATA})
    with pytest.raises((NotADirectoryError, FileExistsError)):
        get(tmp_path / "file" / "a.bin", server)
    assert len(server.requests) == 1


def test_an_interrupt_keeps_what_arrived(mirror: StartMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = mirror({"a.bin": DATA})

    class Impatient:
        def __init__(self, **_: object) -> None: ...
        def __enter__(self) -> "Impatient":
            return self

        def __exit__(self, *_: object) -> None: ...
        def update(self, _: int) -> None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "tqdm", Impatient)
        with pytest.raises(KeyboardInterrupt):
            get(tmp_path / "a.bin", server)
    (left,) = tree(tmp_path).items()
    assert left[0] == "a.bin.part" and left[1] and DATA.startswith(left[1])
    get(tmp_path / "a.bin", server)
    assert server.requests[-1][1] == f"bytes={len(left[1])}-"
    assert tree(tmp_path) == {"a.bin": DATA}
