"""Fetching and verifying, against a web server on this machine."""

import errno
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from fedlab_core.data.disk import files, store
from fedlab_core.data.disk.sources import SENTIMENT140, SOURCES
from fedlab_core.data.disk.store import FetchFailed
from fedlab_core.data.load import load_dataset
from fedlab_core.files import locked
from tests.core.data.small_sets import (
    IDX_NAMES,
    PACK,
    Mirror,
    cifar_pickles,
    idx_contents,
    members_of,
    publish,
    tar_gz,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache")
StartMirror = Callable[[dict[str, bytes]], Mirror]
GZ = {name + ".gz": PACK[".gz"](data) for name, data in idx_contents().items()}
LAST = IDX_NAMES[3] + ".gz"
ARCHIVE = "cifar-10-python.tar.gz"
CIFAR = tar_gz(cifar_pickles() | {"readme.html": b"hello"})
TWEETS = {"trainingandtestdata.zip": bytes(range(256)) * 1000}


@pytest.fixture
def server(
    mirror: StartMirror, monkeypatch: pytest.MonkeyPatch, vision: ModuleType, small: None
) -> Mirror:
    """A web server from which torchvision fetches small sets in the place of the real ones."""
    started = mirror(GZ | {ARCHIVE: CIFAR})
    publish(monkeypatch, started.url, GZ, CIFAR)
    return started


def fetch_tweets(url: str, root: Path) -> Path:
    """Fetch a small file in the place of the archive of Sentiment140."""
    layout = SENTIMENT140.layouts[0]._replace(members=members_of(TWEETS))
    source = SENTIMENT140._replace(layouts=(layout,), url=f"{url}trainingandtestdata.zip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOURCES, "sentiment140", source)
        return store.fetch("sentiment140", root)


def names_in(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.suffix != ".lock"}


def test_fetch_leaves_the_set_and_nothing_else(server: Mirror, tmp_path: Path) -> None:
    root = tmp_path / "new" / "root"
    assert store.fetch("mnist", root) == root / "MNIST" / "raw"
    assert tree(root / "MNIST" / "raw") == idx_contents() and names_in(root) == {"MNIST"}
    server.requests.clear()
    store.fetch("mnist", root)
    assert server.requests == []  # an intact set is not fetched again


@pytest.mark.parametrize(("name", "size"), [("mnist", 12), ("cifar10", 15)])
def test_the_first_load_after_a_fetch_reads_no_file_for_its_checksum(
    server: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    store.fetch(name, tmp_path)
    monkeypatch.setattr(files, "content", None)  # calling it would fail
    assert len(load_dataset(name, tmp_path).train) == size


def test_fetch_unpacks_the_archive_and_takes_no_other(server: Mirror, tmp_path: Path) -> None:
    for given in (b"<html>", CIFAR[:-60]):
        server.files[ARCHIVE] = given
        with pytest.raises(
            FetchFailed, match="cifar10 could not be downloaded: File not found or corrupted"
        ):
            store.fetch("cifar10", tmp_path)
        assert names_in(tmp_path) == {".cifar10.download"}
    server.files[ARCHIVE] = CIFAR
    folder = store.fetch("cifar10", tmp_path)
    assert tree(folder) == cifar_pickles() and names_in(tmp_path) == {"cifar-10-batches-py"}


def test_an_intact_set_in_a_usual_folder_of_a_read_only_data_folder_is_found(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "mnist", idx_contents(), ".gz")
    monkeypatch.setattr(Path, "mkdir", None)  # calling it would fail
    assert store.fetch("mnist", tmp_path) == tmp_path / "mnist"


def test_a_broken_fetch_keeps_the_files_that_arrived_and_the_next_completes_them(
    server: Mirror, tmp_path: Path
) -> None:
    before = {IDX_NAMES[0]: b"damaged", "notes.txt": b"mine"}
    folder = write(tmp_path / "MNIST" / "raw", before)
    server.cuts[LAST] = [10, 10]
    with pytest.raises(
        FetchFailed, match=r"mnist could not be downloaded: .*File not found or corrupted"
    ) as caught:
        store.fetch("mnist", tmp_path)
    assert "\n" not in str(caught.value) and "into the data folder" in str(caught.value)
    assert tree(folder) == before  # no reader sees half a set
    server.requests.clear()
    write(tmp_path / ".mnist.download" / "MNIST" / "raw", dict.fromkeys(IDX_NAMES, b"half a file"))
    store.fetch("mnist", tmp_path)
    assert set(server.requests) == {LAST}
    assert tree(folder) == idx_contents() | {"notes.txt": b"mine"} and names_in(tmp_path) == {
        "MNIST"
    }


def test_a_file_that_is_wrong_once_unpacked_is_not_moved_into_place(
    server: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {LAST: PACK[".gz"](idx_contents()[IDX_NAMES[3]][:-1] + b"\0")}
    server.files |= wrong
    publish(monkeypatch, server.url, GZ | wrong, CIFAR)
    with pytest.raises(FetchFailed, match=f"downloaded: {IDX_NAMES[3]}: wrong checksum"):
        store.fetch("mnist", tmp_path)
    assert not (tmp_path / "MNIST").exists()


def test_without_torchvision_its_sets_are_not_fetched_and_the_error_names_it(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(ImportError, match="pip install torchvision"):
        store.fetch("mnist", tmp_path)
    assert names_in(tmp_path) == set()


def test_sentiment140_is_fetched_without_torchvision(
    mirror: StartMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    folder = fetch_tweets(mirror(TWEETS).url, tmp_path)
    assert tree(folder) == TWEETS and names_in(tmp_path) == {"sentiment140"}


def test_the_error_names_the_failure(mirror: StartMirror, tmp_path: Path) -> None:
    (content,) = TWEETS.values()
    cut = mirror(TWEETS)
    cut.cuts["trainingandtestdata.zip"] = [1000]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{probe.getsockname()[1]}/"
    for url, said in (
        (closed, "Connection refused"),
        (mirror({}).url, "404"),
        (cut.url, "must hold 256000 bytes once unpacked, but holds only 1000"),
        (mirror(dict.fromkeys(TWEETS, content[::-1])).url, "wrong checksum"),
    ):
        with pytest.raises(
            FetchFailed, match=f"sentiment140 could not be downloaded.*{said}.*Run the same command"
        ):
            fetch_tweets(url, tmp_path)


def test_a_silent_server_runs_into_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "TIMEOUT", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(FetchFailed, match="timed out"),
    ):
        fetch_tweets(f"http://127.0.0.1:{silent.getsockname()[1]}/", tmp_path)
    assert socket.getdefaulttimeout() is None


def test_a_second_fetch_waits_for_the_first_and_asks_for_nothing(
    server: Mirror, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path / ".mnist.lock"):
        second = threading.Thread(target=store.fetch, args=("mnist", tmp_path))
        second.start()
        told = ""
        end = time.monotonic() + 240
        while "waiting for another process" not in told and time.monotonic() < end:
            second.join(0.1)
            told += capsys.readouterr().err
        assert second.is_alive() and "waiting for another process" in told
        write(tmp_path / "mnist", idx_contents())
    second.join(240)
    assert not second.is_alive() and server.requests == []


@pytest.mark.usefixtures("small")
def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FetchFailed, match=r"root cannot be written.*Read-only file system.*--root"):
        store.fetch("mnist", tmp_path / "root")


@pytest.mark.usefixtures("small")
def test_verify_tells_ok_from_missing_from_wrong(tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents(), ".gz")
    assert list(store.verify("mnist", tmp_path).values()) == ["ok"] * 4
    paths = [folder / f"{name}.gz" for name in IDX_NAMES]
    paths[0].write_bytes(PACK[".gz"](idx_contents()[IDX_NAMES[0]][:-1] + b"x"))
    paths[1].unlink()
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    states = store.verify("mnist", tmp_path)
    assert states.pop(str(paths[2])).startswith("cannot be read")
    assert states == {str(paths[0]): "wrong checksum", IDX_NAMES[1]: "missing", str(paths[3]): "ok"}
    assert set(store.verify("cifar10", tmp_path).values()) == {"missing"}
